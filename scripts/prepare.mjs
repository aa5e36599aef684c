// What `npm start` and `npm test` have in common: on a fresh clone nothing is installed or built yet.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

/** Whether nothing was touched since the last complete build; asking the compiler takes a second. */
function isBuilt() {
  const { references } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  return references.every(({ path }) => {
    const marker = join(path, 'dist', '.tsbuildinfo')
    if (!existsSync(marker)) return false
    // A build that found errors writes the marker too.
    if (/"errors":true|DiagnosticsPerFile/.test(readFileSync(marker, 'utf8'))) return false
    const built = statSync(marker).mtimeMs
    const sources = readdirSync(join(path, 'src'), { recursive: true })
    const files = ['tsconfig.json', 'src', ...sources.map((name) => join('src', name))]
    return files.every((file) => statSync(join(path, file)).mtimeMs <= built)
  })
}

/** The exit code: 0 when everything is installed and built. */
export function prepare() {
  const failed = install()
  if (failed || isBuilt()) return failed
  return step('Building (tsc -b)', 'npx', ['tsc', '-b'])
}
