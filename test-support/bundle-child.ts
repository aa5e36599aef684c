import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Vite } from 'vitest/node'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/tollgate-tests')
const PACKAGES = ['http', 'database', 'oauth', 'billing', 'invoices', 'sandbox']

/** Native code, and what is loaded only where its database is used. */
const LEFT_OUT = ['libsql', 'pg', 'mysql2']

/** Without comments and spaces it loads in three quarters of the time. Names stay: errors say theirs. */
const SHORT = { mangle: false, compress: false, codegen: { removeWhitespace: true } } as const

const bundles = new Map<string, Promise<string>>()

/**
 * A script for a child process with all that it imports in one file: hundreds of files take a second of a core
 * to load, and a campaign starts hundreds of children. It is kept until the script, a part of it or a package is new.
 */
export function bundleChild(script: string, parts: readonly string[] = []): Promise<string> {
  const bundle = bundles.get(script) ?? findOrBuild(script, parts)
  bundles.set(script, bundle)
  return bundle
}

async function findOrBuild(script: string, parts: readonly string[]): Promise<string> {
  const folder = join(CACHE, hashOf(script, parts))
  const file = join(folder, 'child.mjs')
  if (!existsSync(file)) await build(script, folder)
  return file
}

/** Others may do the same at this moment: whoever is first puts it in place. */
async function build(script: string, folder: string): Promise<void> {
  const { build } = await importVite()
  mkdirSync(CACHE, { recursive: true })
  removeOld()
  const own = mkdtempSync(join(CACHE, 'new-'))
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: LEFT_OUT },
    build: {
      ssr: script,
      outDir: own,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        output: { minify: SHORT, entryFileNames: 'child.mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })
  try {
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true })
    if (!existsSync(join(folder, 'child.mjs'))) throw error
  }
}

/** Nobody runs a child of yesterday. */
function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs && Date.now() - mtimeMs > 24 * 3600 * 1000) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

/** The bundler of the test runner, wherever npm has put it. */
function importVite(): Promise<typeof Vite> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
  return import(/* @vite-ignore */ resolve('vite'))
}

/** Changes with everything that the bundle is made of. */
function hashOf(script: string, parts: readonly string[]): string {
  const hash = createHash('sha256').update(script)
  for (const file of [script, ...parts]) hash.update(readFileSync(file))
  hash.update(readFileSync(join(ROOT, 'package-lock.json')))
  for (const name of PACKAGES) {
    const dist = join(ROOT, 'packages', name, 'dist')
    for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort()) {
      if (file.endsWith('.js')) hash.update(`${file} ${statSync(join(dist, file)).mtimeMs}\n`)
    }
  }
  return hash.digest('hex').slice(0, 20)
}
