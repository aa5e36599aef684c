// What `npm start` and `npm test` have in common: on a fresh clone nothing is installed or built yet.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

export function step(title, command, args) {
  console.log(`- ${title}`)
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (error) console.error(`${command}: ${error.message}`)
  return status ?? 1
}

/** npm writes this file last, so it is as old as the last complete installation. */
function isInstalled() {
  const marker = 'node_modules/.package-lock.json'
  return (
    existsSync(marker) &&
    (!existsSync('package-lock.json') ||
      statSync(marker).mtimeMs >= statSync('package-lock.json').mtimeMs)
  )
}

/** Not `npm ci`: it refuses a lock file without the binaries of other platforms than it was made on. */
function install() {
  if (isInstalled()) return 0
  return step('Installing the locked dependencies', 'npm', ['install', '--no-save', '--no-fund'])
}

/** The exit code: 0 when everything is installed and built. */
export function prepare() {
  return install() || step('Building (tsc -b)', 'npx', ['tsc', '-b'])
}
