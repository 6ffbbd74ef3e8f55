"use client"

import { memo, useMemo, useRef } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import { type Blocks, endsInFence, splitBlocks } from "@/lib/client/markdown-blocks"
import { CodeBlock, OpenFence } from "./code-block"
import { LongText } from "./long-text"

const plugins = [remarkGfm]

const components: Components = {
  pre: CodeBlock,
  a: ({ node: _, ...props }) => <a {...props} target="_blank" rel="noreferrer noopener" />,
  // The content security policy blocks pictures of other sites: a link is better than a broken one.
  img: ({ src, alt }) => (typeof src === "string" ? <a href={src} target="_blank" rel="noreferrer noopener">{`🖼 ${alt || src}`}</a> : null),
}

/** Parsing a longer block again and again while it streams would freeze the page: it is shown as it is. */
const MAX_PARSED = 40_000

const Block = memo(function Block({ text, open }: { text: string; open: boolean }) {
  if (text.length > MAX_PARSED) return <LongText text={text} />
  return (
    <OpenFence.Provider value={open}>
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </OpenFence.Provider>
  )
})

/** Renders Markdown block by block: while it streams, only the last block is parsed again. */
export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const previous = useRef<Blocks>(undefined)
  const split = useMemo(() => splitBlocks(text, previous.current), [text])
  previous.current = split
  const last = split.blocks.length - 1
  return split.blocks.map((block, at) => (
    // A block keeps its place for good: blocks are only ever added at the end.
    <Block key={at} text={block} open={streaming && at === last && endsInFence(block)} />
  ))
}
