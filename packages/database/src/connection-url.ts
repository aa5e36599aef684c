import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export type ConnectionTarget =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly shown: string }
  | { readonly dialect: 'postgres' | 'mysql'; readonly url: string; readonly shown: string }

const EXPECTED =
  'expected sqlite:<file>, sqlite::memory:, file:<file>, postgres://… or mysql://… (also mariadb://…)'

/** Says what is wrong with a URL and how to mend it, and never shows its password. */
export function parseConnectionUrl(url: unknown): ConnectionTarget {
  if (typeof url !== 'string' || url.trim() === '') {
    const given = typeof url === 'string' ? 'blank' : `of type ${typeof url}`
    throw new TypeError(`The database URL is ${given}; ${EXPECTED}`)
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'sqlite':
    case 'file':
      return parseSqliteUrl(url)
    case 'postgres':
    case 'postgresql':
      return { dialect: 'postgres', url, shown: checkServerUrl(url) }
    case 'mysql':
    case 'mariadb':
      return { dialect: 'mysql', url, shown: checkServerUrl(url) }
    default:
      throw new TypeError(`The database URL "${redact(url)}" has an unknown scheme; ${EXPECTED}`)
  }
}

/** Hides every password of a URL, however broken the URL is. */
export function redact(url: string): string {
  return url
    .replace(/^([^:]*:\/*[^:@]*):.*@/s, '$1:***@')
    .replace(/([?&](?:password|passwd|pwd|secret|token|key|ssl[a-z]*)=)[^&#]*/gi, '$1***')
}

function checkServerUrl(url: string): string {
  const shown = redact(url)
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new TypeError(
      `The database URL "${shown}" cannot be read; write special characters in the password as %XX`,
    )
  }
  if (parsed.pathname.length < 2) {
    throw new TypeError(`The database URL "${shown}" names no database; add it as …/name`)
  }
  return shown
}

function parseSqliteUrl(url: string): ConnectionTarget {
  const shown = url
  const [location = '', search = ''] = url.replace(/^[a-z]+:/i, '').split('?', 2)
  if (location === ':memory:') return { dialect: 'sqlite', path: ':memory:', shown }
  const named = decodeURIComponent(location.replace(/^\/\/(?=\/|[^/])/, ''))
  if (named === '' || named.endsWith('/')) {
    throw new TypeError(`The database URL "${shown}" names no file; write sqlite:./data/app.db`)
  }
  const path = resolve(named)
  checkFile(path, new URLSearchParams(search).get('mode') === 'rw')
  return { dialect: 'sqlite', path, shown }
}

function checkFile(path: string, mustExist: boolean): void {
  const folder = dirname(path)
  if (!existsSync(folder)) {
    throw new Error(
      `The folder of the SQLite file ${path} is missing; create it: mkdir -p -m 700 ${folder}`,
    )
  }
  if (!existsSync(path)) {
    if (mustExist)
      throw new Error(`The SQLite file ${path} is missing and mode=rw forbids a new one`)
  } else {
    if (!statSync(path).isFile()) {
      throw new Error(`${path} is not a file; name an SQLite file, or one that can be created`)
    }
    checkAccess(path, 'file')
  }
  checkAccess(folder, 'folder')
}

/** SQLite also writes a journal beside the file. */
function checkAccess(path: string, kind: 'file' | 'folder'): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (cause) {
    throw new Error(
      `The SQLite ${kind} ${path} cannot be read and written; give this user both rights`,
      { cause },
    )
  }
}
