export { judgeAnswer, type Minted, mintToken, outcomeOf, rejected, requestOf, tokenSecret, toWait } from "./resume-tokens"
