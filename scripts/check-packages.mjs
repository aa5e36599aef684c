// npm run check:packages: would these packages work for those who install them?
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

function run(cwd, ...args) {
  return start('npx', cwd, args)
}

function start(command, cwd, args) {
  console.log(`- ${cwd}: ${args.join(' ')}`)
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (error) console.error(error.message)
  return status === 0
}

const folders = readdirSync('packages')
  .map((name) => join('packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')))
const checks = [
  () => start('npm', '.', ['run', 'build']),
  () => start(process.execPath, '.', ['scripts/check-public-types.mjs']),
  ...folders.map((folder) => () => run(folder, 'publint', '--strict')),
  ...folders.map((folder) => () => run(folder, 'attw', '--pack', '.')),
]
const failed = checks.filter((check) => !check()).length
console.log(failed === 0 ? 'All packages are fit to publish' : `${failed} checks failed`)
process.exitCode = failed === 0 ? 0 : 1
