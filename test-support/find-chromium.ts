import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/**
 * Finds Chromium: `CHROMIUM_PATH`, or the first of the usual names in `PATH`. `null` if there is
 * none.
 */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | null {
  const { CHROMIUM_PATH: named, PATH = '' } = environment
  if (named) {
    if (isProgram(named)) return named
    throw new Error(`CHROMIUM_PATH is ${named}, which is no program; name another or unset it`)
  }
  const candidates = NAMES.flatMap((name) => PATH.split(delimiter).map((dir) => join(dir, name)))
  return candidates.find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
