export { createGitCredentials, type GitCredentials } from "./git-credentials"
