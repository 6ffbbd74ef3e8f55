export { nextAuthHandler as GET, nextAuthHandler as POST } from "@/server/http/next-auth"
