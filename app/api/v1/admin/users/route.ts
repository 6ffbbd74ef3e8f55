import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/users", async ({ services }) => ({ items: await services.people.list() }))
export const POST = route("POST /api/v1/admin/users", ({ services, person, body, trail }) =>
  services.people.create(person, body, (made) => [trail.entry({ target: made.id, details: { email: made.email, role: made.role } })]),
)
export const PATCH = route("PATCH /api/v1/admin/users", async ({ services, person, body, trail }) => {
  const { id, role, disabled } = body
  await services.people.change(person, id, body, (before) => [
    ...(role !== undefined && role !== before.role
      ? [trail.entry({ action: "user.role_changed", target: id, details: { email: before.email, from: before.role, to: role } })]
      : []),
    ...(disabled !== undefined && disabled !== (before.disabled_at !== null)
      ? [trail.entry({ action: disabled ? "user.disabled" : "user.enabled", target: id, details: { email: before.email } })]
      : []),
  ])
  services.accessChanged()
})
