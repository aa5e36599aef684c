// npm run check:public-types, after a build: fails on a type that a public signature names and that
// cannot be imported from any entry point of our packages. `--all` lists those of every package.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findUnnameable } from './public-types/find-unnameable.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const packages = readdirSync('packages')
  .filter((name) => existsSync(`packages/${name}/package.json`))
  .map((name) => {
    const { exports } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
    const entries = Object.values(exports).flatMap(
      (entry) => entry.import?.types ?? entry.types ?? [],
    )
    return {
      folder: resolve('packages', name),
      entries: entries.map((types) => resolve('packages', name, types)),
    }
  })

/** Packages that are not held to it yet: their faults are counted, and do not fail. */
const NOT_YET = ['server']

const shown = findUnnameable(packages).map((fault) =>
  fault.replaceAll(`${process.cwd()}/packages/`, ''),
)
const isHeld = (fault) => !NOT_YET.some((name) => fault.includes(` of ${name}/`))
const faults = shown.filter(isHeld)
for (const fault of faults) console.error(fault)
for (const name of NOT_YET) {
  const count = shown.filter((fault) => fault.includes(` of ${name}/`)).length
  console.log(`${name}: ${count} types that nobody can import, not held to it yet`)
}
if (process.argv.includes('--all')) for (const fault of shown) console.log(fault)
console.log(faults.length === 0 ? 'Every public type can be imported' : `${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
