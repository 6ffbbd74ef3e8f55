export { renderContext } from "./render-context"
