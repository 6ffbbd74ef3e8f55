const FENCE = "```"

/** The first thing most people read. */
export const helpText = (memory: string): string => `## Hello, I am the demo agent

I am a small program, not a model. I speak the same protocol as real coding agents, in a process of my own, so that you can see what **survives** when something breaks. ${memory}

| Say | and I will |
|---|---|
| \`remember WORD\` | keep a word in my memory |
| \`recall\` | tell you all the words of this conversation |
| \`count 50 200\` | count to 50, one number every 200 ms |
| \`run COMMAND\` | ask you first, then run it in the workspace |
| \`write PATH TEXT\` | write a file and show the change |
| \`read PATH\` | read a file |
| \`look\` | tell you what you attached, byte for byte |
| \`ask QUESTION\` | let you choose an answer |
| \`think\`, \`plan\` | show my thoughts, or a plan |
| \`mcp\` | name the MCP servers I was given |
| \`flood 200\` | send 200 large messages at once |
| \`crash\` | end my process in the middle of a sentence |
| \`hang\` | never finish, until you cancel |

Try this:

${FENCE}text
remember apple
crash
recall
${FENCE}

Between the second line and the third my process is gone. Whether I still know the word shows how I came back.
`
