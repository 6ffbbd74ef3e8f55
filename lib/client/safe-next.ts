const PAGE = "http://page.invalid"

/**
 * Where to go after a sign-in. Only a path of this site: anything else could send a signed-in user elsewhere. Judged as the browser
 * will read it, which drops tabs and line breaks and takes a backslash for a slash.
 */
export function safeNext(next: string | null): string {
  if (!next?.startsWith("/") || !URL.canParse(next, PAGE)) return "/tasks"
  return new URL(next, PAGE).origin === PAGE ? next : "/tasks"
}
