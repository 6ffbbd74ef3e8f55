/** What stands before the host, up to the last @: a password may hold one itself. */
const USER_INFO = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)@/i

/**
 * Does this git URL hold a secret? It would be in the task, its exports, the name of a folder, git's config and command lines. The
 * user name of ssh is none.
 */
export function holdsCredentials(url: string): boolean {
  const [, scheme = "", userInfo] = USER_INFO.exec(url) ?? []
  if (userInfo === undefined) return false
  return /ssh/i.test(scheme) ? /:|%3a/i.test(userInfo) : true
}

/** For texts that repeat a URL. */
export const withoutUserInfo = (text: string): string => text.replace(/:\/\/[^/?#\s]*@/g, "://")

/** The URL as it may be shown and handed on. */
export const withoutCredentials = (url: string): string => (holdsCredentials(url) ? withoutUserInfo(url) : url)
