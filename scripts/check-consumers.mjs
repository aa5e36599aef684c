// npm run check:consumers: small applications that install the packed packages and nothing they do not
// use, and compile with every declaration checked: one provider alone, one framework alone, CommonJS.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'

const CONSUMERS = 'scripts/consumers'
const folder = mkdtempSync(join(tmpdir(), 'tollgate-consumers-'))

function run(cwd, title, command, args) {
  console.log(`- ${title}`)
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
}

function check(name, tarballs) {
  const cwd = join(folder, name)
  cpSync(join(CONSUMERS, name), cwd, { recursive: true })
  run(cwd, `${name}: npm install`, 'npm', ['install', '--silent', '--no-audit', ...tarballs])
  run(cwd, `${name}: tsc, with every declaration checked`, 'npx', ['tsc', '-p', '.'])
  if (name === 'commonjs') run(cwd, `${name}: node`, process.execPath, ['index.js'])
}

process.exitCode = await prepare()
if (process.exitCode === 0) {
  try {
    // The service is a program, and nobody's dependency.
    const libraries = packInto(join(folder, 'tarballs')).filter((file) =>
      /tollgate-(oauth|billing|database|http|sandbox)-/.test(file),
    )
    for (const name of readdirSync(CONSUMERS)) check(name, libraries)
    console.log('Everybody can use the packages')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
