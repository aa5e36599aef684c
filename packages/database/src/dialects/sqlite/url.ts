import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export const IN_MEMORY = ':memory:'

/** Returns the URL unchanged: SQLite URLs contain no password. */
export function checkSqliteUrl(url: string): string {
  const path = getSqlitePath(url)
  if (path !== IN_MEMORY) {
    const [, search = ''] = url.split('?', 2)
    checkFile(path, new URLSearchParams(search).get('mode') === 'rw')
  }
  return url
}

export function findSqliteFile(url: string): string | null {
  const path = getSqlitePath(url)
  return path === IN_MEMORY ? null : path
}

/** Returns the path of the file that a URL names, or `:memory:`. */
export function getSqlitePath(url: string): string {
  const [location = ''] = url.replace(/^[a-z]+:/i, '').split('?', 2)
  if (location === IN_MEMORY) return IN_MEMORY
  const named = decodeURIComponent(location.replace(/^\/\/(?=\/|[^/])/, ''))
  if (named === '' || named.endsWith('/')) {
    throw new TypeError(`The database URL "${url}" names no file; write sqlite:./data/app.db`)
  }
  return resolve(named)
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
      throw new Error(`The SQLite file ${path} is missing, and mode=rw does not allow creating it`)
  } else {
    if (!statSync(path).isFile()) {
      throw new Error(`${path} is not a file; give the path of an SQLite file, which may be new`)
    }
    checkAccess(path, 'file')
  }
  checkAccess(folder, 'folder')
}

/**
 * Checks that the file or folder is writable. The folder must be, too, because SQLite writes a
 * journal beside the file.
 */
function checkAccess(path: string, kind: 'file' | 'folder'): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (cause) {
    throw new Error(
      `The SQLite ${kind} ${path} cannot be read and written; give this user read and write permission`,
      { cause },
    )
  }
}
