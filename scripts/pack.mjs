// npm run pack: one .tgz for each package, to install in another project while they are not on npm.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildAllCommonJs } from './build-commonjs.mjs'
import { prepare } from './prepare.mjs'

/** Packs every package into `folder`, and gives the files. */
export function packInto(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = readdirSync('packages')
    .map((name) => `./packages/${name}`)
    .filter((path) => existsSync(`${path}/package.json`))
  buildAllCommonJs('packages')
  execFileSync('npm', ['pack', ...packages, '--silent', '--pack-destination', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readdirSync(folder).map((name) => join(folder, name))
}

if (import.meta.filename === process.argv[1]) {
  process.exitCode = await prepare()
  if (process.exitCode === 0) {
    const files = packInto(resolve('tarballs'))
    console.log(`\nIn your project, with stripe or braintree if you use them:\n`)
    console.log(`npm install ${files.join(' ')}\n`)
  }
}
