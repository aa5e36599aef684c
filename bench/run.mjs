/**
 * `npm run bench`: installs the peers into this folder the first time, builds Tollgate, and
 * measures.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)

installIfMissing(bench)
installIfMissing(root)
build()
const { main } = await import('./main.mjs')
await main(process.argv.slice(2))
process.exit()

function installIfMissing(folder) {
  const installed = join(folder, 'node_modules', '.package-lock.json')
  const wanted = join(folder, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return
  const { status } = spawnSync('npm', ['install', '--no-save'], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function build() {
  const tsc = join(root, 'scripts', 'tsc.mjs')
  const { status } = spawnSync(process.execPath, [tsc, '-b'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) console.error('The build failed: Tollgate is measured as it was last built.')
}
