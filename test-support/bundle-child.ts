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
const PACKAGES = ['http', 'database', 'oauth', 'billing', 'invoices', 'sandbox', 'gate']

/**
 * Packages to leave out of the bundle: native code, and drivers that are loaded only for their
 * database.
 */
const EXTERNAL = ['libsql', 'pg', 'mysql2']

/**
 * Removing comments and spaces saves a quarter of the load time. Names are kept, because error
 * messages contain them.
 */
const MINIFY = { mangle: false, compress: false, codegen: { removeWhitespace: true } } as const

const bundles = new Map<string, Promise<string>>()

/**
 * Bundles the script of a child process and everything it imports into one file: loading hundreds
 * of files takes a second of CPU time, and a campaign starts hundreds of children. The bundle is
 * reused until the script, one of its parts or a package changes.
 */
export function bundleChild(script: string, parts: readonly string[] = []): Promise<string> {
  const bundle = bundles.get(script) ?? findOrBuild(script, parts)
  bundles.set(script, bundle)
  return bundle
}

async function findOrBuild(script: string, parts: readonly string[]): Promise<string> {
  const folder = join(CACHE, hashBundleInputs(script, parts))
  const file = join(folder, 'child.mjs')
  if (!existsSync(file)) await build(script, folder)
  return file
}

/** Builds in a temporary place and renames: of several concurrent builds the first one wins. */
async function build(script: string, folder: string): Promise<void> {
  const { build } = await importVite()
  mkdirSync(CACHE, { recursive: true })
  removeOld()
  const own = mkdtempSync(join(CACHE, 'new-'))
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: EXTERNAL },
    build: {
      ssr: script,
      outDir: own,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        output: { minify: MINIFY, entryFileNames: 'child.mjs', chunkFileNames: '[name].mjs' },
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

/** Removes outdated bundles. */
function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    // Managed by scripts/test.mjs and in use while tests run.
    if (name.startsWith('compiled-')) continue
    const path = join(CACHE, name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs && Date.now() - mtimeMs > 24 * 3600 * 1000) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

/** Loads the bundler of the test runner, wherever npm has installed it. */
function importVite(): Promise<typeof Vite> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
  return import(/* @vite-ignore */ resolve('vite'))
}

/** Hash of everything that the bundle is made of. */
function hashBundleInputs(script: string, parts: readonly string[]): string {
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
