// npm run build, after TypeScript: adds CommonJS entry points. Since 20.19 Node can load ES modules
// by require(), so each entry point gets a .cjs file of one line, and there is only one copy of the
// code. TypeScript needs matching declarations: every .d.ts gets a .d.cts copy beside it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Matches `from './x.ts'` and `import('./x.ts')`, which refer to files of the same package. */
const OWN_FILES = /(from |import |import\(|declare module )(['"])(\.{1,2}\/[^'"]+)\.(?:js|tsx?)\2/g

export function toCommonJs(declarations) {
  return declarations.replace(OWN_FILES, '$1$2$3.cjs$2')
}

export function buildCommonJs(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = Object.values(exports ?? {}).flatMap((entry) => entry.require?.default ?? [])
  if (entries.length === 0) return
  const dist = join(folder, 'dist')
  for (const path of readdirSync(dist, { recursive: true })) {
    if (!path.endsWith('.d.ts')) continue
    const text = readFileSync(join(dist, path), 'utf8')
    writeFileSync(join(dist, path.replace(/\.ts$/, '.cts')), toCommonJs(text))
  }
  for (const entry of entries) {
    const name = entry.slice(entry.lastIndexOf('/') + 1).replace(/\.cjs$/, '.js')
    writeFileSync(join(folder, entry), `module.exports = require('./${name}')\n`)
  }
}

export function buildAllCommonJs(packages) {
  for (const name of readdirSync(packages)) {
    const folder = join(packages, name)
    if (existsSync(join(folder, 'package.json'))) buildCommonJs(folder)
  }
}

if (import.meta.filename === process.argv[1]) {
  buildAllCommonJs(fileURLToPath(new URL('../packages', import.meta.url)))
}
