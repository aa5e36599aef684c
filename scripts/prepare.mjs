// What `npm start` and `npm test` have in common: on a fresh clone nothing is installed or built yet.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAllCommonJs } from './build-commonjs.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const TSC = ['scripts/tsc.mjs', '-b']

/** Runs one command and gives its exit code. One that is silent for long is said to be still at work. */
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

/** npm writes this file last, so it is as old as the last complete installation. */
function isInstalled() {
  const marker = 'node_modules/.package-lock.json'
  return (
    existsSync(marker) &&
    (!existsSync('package-lock.json') ||
      statSync(marker).mtimeMs >= statSync('package-lock.json').mtimeMs)
  )
}

/** Not `npm ci`, which deletes all that is there first: after a change of one package that is a minute again. */
function install() {
  if (isInstalled()) return 0
  const title = 'Installing the locked dependencies: about a minute, the first time only'
  return step(title, 'npm', ['install', '--no-save', '--no-fund'], { silent: true })
}

/** Whether nothing was touched since the last complete build; asking the compiler takes a second. */
function isBuilt() {
  const { references } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  return references.every(({ path }) => {
    const marker = join(path, 'dist', '.tsbuildinfo')
    const { main } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    if (!existsSync(marker) || (main && !existsSync(join(path, main)))) return false
    // A build that found errors writes the marker too.
    if (/"errors":true|DiagnosticsPerFile/.test(readFileSync(marker, 'utf8'))) return false
    const built = statSync(marker).mtimeMs
    const sources = readdirSync(join(path, 'src'), { recursive: true })
    const files = ['tsconfig.json', 'src', ...sources.map((name) => join('src', name))]
    return files.every((file) => statSync(join(path, file)).mtimeMs <= built)
  })
}

/** The exit code: 0 when everything is installed and built. */
export async function prepare() {
  const failed = await install()
  if (failed || isBuilt()) return failed
  const title = 'Building: some seconds, when sources have changed'
  const broken = await step(title, process.execPath, TSC, { silent: true })
  if (!broken) buildAllCommonJs('packages')
  return broken
}

if (import.meta.filename === process.argv[1]) process.exitCode = await prepare()
