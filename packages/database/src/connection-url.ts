import { builtInDialects } from './built-in-dialects.ts'
import { redactUrl } from './connections/server-url.ts'
import type { Dialect } from './dialects/dialect.ts'

export interface ConnectionTarget {
  readonly dialect: Dialect
  readonly url: string
  /** The URL without its password, for messages. */
  readonly shown: string
}

/**
 * Finds the dialect for a URL and checks the URL.
 * @throws {TypeError} if the URL is invalid. The message explains how to correct it, and does not
 * contain the password.
 */
export function parseConnectionUrl(url: unknown, dialects: readonly Dialect[]): ConnectionTarget {
  const { dialect, text } = findDialect(url, dialects)
  return { dialect, url: text, shown: dialect.checkUrl?.(text) ?? redactUrl(text) }
}

/**
 * Returns the path of the file in a database URL, or `null` if the database is in memory or on a
 * server. Does not open or create the file.
 * @example
 * ```ts
 * findDatabaseFile('sqlite:./data/app.db') // '/srv/app/data/app.db'
 * ```
 */
export function findDatabaseFile(
  url: string | undefined,
  options: { readonly dialects?: readonly Dialect[] } = {},
): string | null {
  const { dialect, text } = findDialect(url, [...(options.dialects ?? []), ...builtInDialects])
  return dialect.fileOf?.(text) ?? null
}

function findDialect(
  url: unknown,
  dialects: readonly Dialect[],
): { readonly dialect: Dialect; readonly text: string } {
  const expected = `expected ${listExamples(dialects)}`
  if (typeof url !== 'string' || url.trim() === '') {
    const given = typeof url === 'string' ? 'blank' : `of type ${typeof url}`
    throw new TypeError(`The database URL is ${given}; ${expected}`)
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? ''
  const dialect = dialects.find(({ schemes }) => schemes.includes(scheme))
  if (!dialect) {
    throw new TypeError(`The database URL "${redactUrl(url)}" has an unknown scheme; ${expected}`)
  }
  return { dialect, text: url }
}

function listExamples(dialects: readonly Dialect[]): string {
  const examples = dialects.map(({ example }) => example)
  const last = examples.pop()
  return examples.length === 0 ? String(last) : `${examples.join(', ')} or ${last}`
}
