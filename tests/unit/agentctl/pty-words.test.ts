import { expect, test } from "vitest"
import { dividerLine, modesReset } from "../../../server/agentctl/pty/divider"
import { commandLine } from "../../../server/agentctl/pty/processes"

test("a command is told as it would be typed again", () => {
  expect(commandLine(["npm", "run", "dev", "--", "--port=3000"])).toBe("npm run dev -- --port=3000")
  expect(commandLine(["grep", "-r", "it's here", ""])).toBe("grep -r 'it'\\''s here' ''")
  expect(commandLine(["sh", "-c", "echo $HOME; ls *"])).toBe("sh -c 'echo $HOME; ls *'")
})

test("the divider stands below the last line that holds anything, with a label that cannot move the cursor", () => {
  const line = dividerLine(7, new Date(2026, 0, 2, 4, 3), "new\x1b[2Jshell\u009b").toString("utf8")
  expect(line).toBe("\x1b[7;1H\r\n\x1b[2m─── restored 04:03, new [2Jshell  ───\x1b[0m\r\n")
  expect(dividerLine(0, new Date(), "x").toString("utf8").startsWith("\x1b[H\x1b[2m───")).toBe(true)
})

test("only an alternate screen is left: leaving the normal one would move the cursor over old lines", () => {
  expect(modesReset(true).toString("latin1")).toContain("\x1b[?1049l")
  expect(modesReset(false).toString("latin1")).not.toContain("1049")
})
