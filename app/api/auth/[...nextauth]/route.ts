import type { NextRequest } from "next/server"
import NextAuth from "next-auth"
import { getServices } from "@/server/services"

type Context = { params: Promise<{ nextauth: string[] }> }
const handler = (request: NextRequest, context: Context) => NextAuth(request as never, context as never, getServices().nextAuth)

export { handler as GET, handler as POST }
