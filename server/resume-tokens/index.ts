export { judgeAnswer, type Minted, mintToken, rejected, tokenSecret, toWait } from "./resume-tokens"
