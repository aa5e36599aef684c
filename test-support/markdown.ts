import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface CodeBlock {
  /** The text after the three backticks, such as `ts express`. */
  readonly info: string
  readonly code: string
  /** Line number of the block's first line of code. */
  readonly line: number
}

/** Lists the Markdown files in a folder, relative to the root. */
export function listPages(folder: string): string[] {
  const names = readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`)
}

export function readPage(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8')
}

/** Finds fenced code, including code in lists. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { indent: string; info: string; lines: string[]; line: number } | null = null
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, indent = '', info = ''] = /^( *)```(.*)$/.exec(text) ?? []
    if (!/^ *```/.test(text)) open?.lines.push(text.slice(open.indent.length))
    else if (open) {
      blocks.push({ info: open.info, code: open.lines.join('\n'), line: open.line })
      open = null
    } else open = { indent, info: info.trim(), lines: [], line: index + 2 }
  }
  return blocks
}

/** Returns the text without fenced code, with every line at its original position. */
export function prose(markdown: string): string {
  return markdown.replace(/^ *```.*?^ *```$/gms, (block) => block.replace(/[^\n]/g, ''))
}
