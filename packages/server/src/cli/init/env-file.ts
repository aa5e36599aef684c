import { parseEnv } from 'node:util'
import { UsageError } from '../usage-error.ts'

/** Settings by the names of their environment variables. */
export type Settings = Readonly<Record<string, string>>

export const readSettings = (text: string): Settings => parseEnv(text) as Settings

/**
 * Adds the settings that the file lacks. Lines that exist stay as they are.
 * @throws UsageError if the file could not be read back with these values.
 */
export function addSettings(text: string, settings: Settings): string {
  const present = readSettings(text)
  const missing = Object.entries(settings).filter(([name]) => !Object.hasOwn(present, name))
  const lines = missing.map(([name, value]) => `${name}=${quote(name, value)}\n`)
  const after = appendLines(text, lines.length > 0 ? ['# Tollgate\n', ...lines] : [])
  const read = readSettings(after)
  const lost = missing.find(([name, value]) => read[name] !== value)
  if (lost === undefined) return after
  throw new UsageError(
    `${lost[0]} cannot be added to .env, because an earlier line has a quotation mark without its partner. Complete that line.`,
  )
}

/** Quotes a value if it would otherwise be read differently, such as one that contains a `#`. */
function quote(name: string, value: string): string {
  if (!/[\s#'"`]/.test(value)) return value
  const mark = ["'", '"', '`'].find((each) => !value.includes(each))
  if (mark !== undefined && !/[\r\n]/.test(value)) return `${mark}${value}${mark}`
  // The value may be a URL with a password, so it is not shown.
  throw new UsageError(
    `The value of ${name} cannot be written to .env: remove its line breaks, or some of its quotation marks`,
  )
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
