import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/me/password", async ({ services, caller, person, body, trail }) => {
  await services.signInLimit.countConfirmation(person.id)
  const change = { current: body.current_password, next: body.new_password, revoke_tokens: body.revoke_tokens }
  const keep = caller.via === "browser" ? caller.credential_id : null
  await services.people.changePassword(person, change, keep, [
    trail.entry({ target: person.id, details: { tokens_revoked: body.revoke_tokens } }),
  ])
  await services.signInLimit.confirmed(person.id)
  services.accessChanged()
})
