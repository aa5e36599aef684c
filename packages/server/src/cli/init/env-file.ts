import { parseEnv } from 'node:util'

/** Settings by the names of their environment variables. */
export type Settings = Readonly<Record<string, string>>

export const readSettings = (text: string): Settings => parseEnv(text) as Settings

/** Adds the settings that the file lacks. Lines that exist stay as they are. */
export function addSettings(text: string, settings: Settings): string {
  const present = readSettings(text)
  const missing = Object.entries(settings).filter(([name]) => !Object.hasOwn(present, name))
  const lines = missing.map(([name, value]) => `${name}=${value}\n`)
  return appendLines(text, lines.length > 0 ? ['# Tollgate\n', ...lines] : [])
}

/** Adds patterns to the text of .gitignore, unless a line already ignores these files. */
export function addIgnored(text: string, patterns: readonly string[]): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const missing = patterns.filter((pattern) => !lines.some((line) => covers(line, pattern)))
  return appendLines(
    text,
    missing.map((pattern) => `${pattern}\n`),
  )
}

/** Whether a line of .gitignore ignores the files of a pattern in the same folder. */
function covers(line: string, pattern: string): boolean {
  const own = line.replace(/^\//, '')
  return own === pattern || (own.endsWith('*') && pattern.startsWith(own.slice(0, -1)))
}

function appendLines(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return text
  const separator = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return `${text}${separator}${lines.join('')}`
}
