import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))
const packages = ['database', 'http', 'oauth']
const skipped = ['node_modules', 'results', 'tricks']

/**
 * Copies the built packages and the benchmark. The copy is below node_modules, so that its imports
 * resolve.
 */
export function copyBuilt() {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'tollgate-copy-'))
  mkdirSync(join(folder, 'node_modules', '@tollgate'), { recursive: true })
  for (const each of packages) {
    const [from, to] = [join(root, 'packages', each), join(folder, 'packages', each)]
    cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true })
    cpSync(join(from, 'package.json'), join(to, 'package.json'))
    symlinkSync(to, join(folder, 'node_modules', '@tollgate', each))
  }
  cpSync(join(root, 'bench'), join(folder, 'bench'), {
    recursive: true,
    filter: (path) => !skipped.some((each) => path.startsWith(join(root, 'bench', each))),
  })
  symlinkSync(join(root, 'bench', 'node_modules'), join(folder, 'bench', 'node_modules'))
  return folder
}

/**
 * Returns the URL of a checkout's benchmark.
 * @param {string} checkout
 */
export function benchOf(checkout) {
  return pathToFileURL(join(checkout, 'bench')).href
}
