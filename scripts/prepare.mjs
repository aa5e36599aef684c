// Steps that `npm start` and `npm test` share: a fresh clone has nothing installed or built.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAllCommonJs } from './build-commonjs.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const TSC = ['scripts/tsc.mjs', '-b']

/** Runs one command. Returns its exit code. Prints that a silent command is still running. */
export async function step(title, command, args, { silent = false } = {}) {
  console.log(`- ${title}`)
  const start = Date.now()
  const child = spawn(command, args, { stdio: 'inherit' })
  const telling = silent
    ? setInterval(() => console.log(`  … ${Math.round((Date.now() - start) / 1000)} s`), 10_000)
    : undefined
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`)
      resolve(1)
    })
    child.once('close', (status) => resolve(status ?? 1))
  }).finally(() => clearInterval(telling))
}

/**
 * Whether the packages are installed. npm writes this file last, so it is as old as the last
 * complete installation.
 */
function isInstalled() {
  const marker = 'node_modules/.package-lock.json'
  return (
    existsSync(marker) &&
    (!existsSync('package-lock.json') ||
      statSync(marker).mtimeMs >= statSync('package-lock.json').mtimeMs)
  )
}

/**
 * Installs without `npm ci`, which first deletes everything: after a change of one package that
 * would cost another minute.
 */
function install() {
  if (isInstalled()) return 0
  const title = 'Installing the locked dependencies: one to three minutes, the first time only'
  return step(title, 'npm', ['install', '--no-save', '--no-fund'], { silent: true })
}

/**
 * Whether nothing has changed since the last complete build. Asking the compiler would take a
 * second.
 */
function isBuilt() {
  const { references } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  return references.every(({ path }) => {
    const marker = join(path, 'dist', '.tsbuildinfo')
    const { main } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    if (!existsSync(marker) || (main && !existsSync(join(path, main)))) return false
    // A build with errors writes the marker, too.
    if (/"errors":true|DiagnosticsPerFile/.test(readFileSync(marker, 'utf8'))) return false
    const built = statSync(marker).mtimeMs
    const sources = readdirSync(join(path, 'src'), { recursive: true })
    const files = ['tsconfig.json', 'src', ...sources.map((name) => join('src', name))]
    return files.every((file) => statSync(join(path, file)).mtimeMs <= built)
  })
}

/** Installs and builds what is missing. Returns the exit code, 0 for success. */
export async function prepare() {
  const failed = await install()
  if (failed || isBuilt()) return failed
  const title = 'Building: under a minute the first time, then a few seconds'
  const broken = await step(title, process.execPath, TSC, { silent: true })
  if (!broken) buildAllCommonJs('packages')
  return broken
}

if (import.meta.filename === process.argv[1]) process.exitCode = await prepare()
