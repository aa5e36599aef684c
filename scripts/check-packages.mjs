// npm run check:packages: checks that the packages work for those who install them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'
import { run, sideBySide } from './side-by-side.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-packages-'))

/**
 * Checks for source maps: the sources are not packed, so a map would point to nothing, and the
 * built files are readable.
 */
async function hasNoMaps(name, tarball) {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n')
  const maps = files.filter((file) => file.endsWith('.map'))
  console.log(`- ${name}: ${maps.length === 0 ? 'no source maps' : `source maps: ${maps.length}`}`)
  return maps.length === 0
}

/** Checks of the tarball that would be published. */
function checksOf(tarball) {
  const name = basename(tarball, '.tgz')
  return [
    () => run(`${name}: attw`, 'node_modules/.bin/attw', [tarball]),
    () => run(`${name}: publint`, 'node_modules/.bin/publint', ['run', tarball, '--strict']),
    () => hasNoMaps(name, tarball),
  ]
}

try {
  if ((await prepare()) !== 0) throw new Error('It could not be built')
  const tarballs = packInto(folder)
  const failed = await sideBySide([
    () => run('public types', process.execPath, ['scripts/check-public-types.mjs']),
    ...tarballs.flatMap(checksOf),
  ])
  console.log(failed === 0 ? 'All packages are fit to publish' : `${failed} checks failed`)
  process.exitCode = failed === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
