// npm run check:foreign [-- java go python node proxy mcp upstream webhooks]: libraries in other
// languages read Tollgate's tokens, sign in with it, and verify billing's webhooks; people sign in to
// the service at a provider of another make. With --write it writes
// the table of docs/reference/clients.md and runs nothing. Each library is installed from its own
// registry into a temporary folder and prints its verdict on every token, which is compared with
// the expected one here. Java with Maven, Go and Python are needed for their parts.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkMcp } from './mcp.mjs'
import { checkProxy } from './proxy.mjs'
import { startServer } from './server.mjs'
import { compareWithTable, writeTable } from './table.mjs'
import { checkUpstream } from './upstream.mjs'
import { checkWebhooks } from './webhooks.mjs'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-foreign-'))
const here = fileURLToPath(new URL('.', import.meta.url))
const input = join(folder, 'tokens.json')

/** The commands for each language, run in its folder. The last one prints the verdicts. */
const programs = {
  java: [
    'mvn -q -B compile dependency:build-classpath -Dmdep.outputFile=classpath',
    `java -cp "target/classes:$(cat classpath)" Check ${input}`,
  ],
  go: ['go mod download', `go run . ${input}`],
  python: [
    'python3 -m venv venv && venv/bin/pip -q install -r requirements.txt',
    `venv/bin/python check.py ${input}`,
  ],
  node: [
    'npm install --no-audit --no-fund --silent',
    `node check.mjs ${input}`,
    `node clients.mjs ${input}`,
  ],
}

/**
 * Runs one language. Returns lines of `library, preset, case, accepted or refused, detail`,
 * separated by tabs.
 */
async function readBy(language) {
  const cwd = join(folder, language)
  cpSync(join(here, language), cwd, { recursive: true })
  let printed = ''
  for (const command of programs[language]) {
    const { stdout } = await run('bash', ['-c', command], { cwd, maxBuffer: 1 << 24 })
    printed += `\n${stdout}`
  }
  const lines = printed.split('\n').map((line) => line.split('\t'))
  return lines.filter((parts) => parts.length === 5)
}

/**
 * Tokens that must be rejected, by preset. Libraries that only sign in have nothing to reject
 * except another user's callback.
 */
const REFUSED = {
  webhooks: ['anotherSecret', 'expired', 'tampered'],
  '-': [],
}
const TOKENS = ['anotherAudience', 'expired', 'idToken', 'tampered']
const refusedBy = (preset) => REFUSED[preset] ?? TOKENS

/** Prints one line for each library and preset. Returns whether all verdicts were as expected. */
function report(lines) {
  const groups = Map.groupBy ? Map.groupBy(lines, keyOf) : groupBy(lines)
  let ok = lines.length > 0
  for (const [key, results] of groups) {
    const [, preset] = results[0]
    const refused = refusedBy(preset)
    const wrong = results.filter(([, , name, result]) => {
      const mustBe = refused.includes(name) || name === 'anothers' ? 'refused' : 'accepted'
      return result !== mustBe
    })
    const wanted = preset === '-' ? [] : ['good', ...refused]
    const missing = wanted.filter((name) => !results.some((parts) => parts[2] === name))
    if (wrong.length + missing.length > 0) ok = false
    const refusals = results.some((parts) => parts[2] === 'anothers')
      ? ["another browser's callback"]
      : refused
    const does = preset === '-' ? 'signs in' : 'accepts'
    const what = refusals.length > 0 ? `${does}; refuses ${refusals.join(', ')}` : does
    const problems = [
      ...wrong.map(([, , name, result, detail]) => `${name} ${result} ${detail}`),
      ...missing.map((name) => `${name} was not tried`),
    ]
    const isFine = problems.length === 0
    console.log(`${isFine ? 'ok    ' : 'FAILED'} ${key}: ${isFine ? what : problems.join('; ')}`)
  }
  return ok
}

const keyOf = ([library, preset]) => `${library} (${preset})`

function groupBy(lines) {
  const groups = new Map()
  for (const line of lines) groups.set(keyOf(line), [...(groups.get(keyOf(line)) ?? []), line])
  return groups
}

if (process.argv.includes('--write')) {
  writeTable()
  process.exit()
}

const server = await startServer()
const others = {
  mcp: () => checkMcp(folder),
  proxy: () => checkProxy(server, folder),
  upstream: () => checkUpstream(folder),
  webhooks: () => checkWebhooks(folder),
}
try {
  const { issuer, client, clients, tokens } = server
  writeFileSync(input, JSON.stringify({ issuer, client, clients, tokens }))
  const wanted = process.argv.slice(2)
  for (const name of wanted.length > 0
    ? wanted
    : [...Object.keys(programs), ...Object.keys(others)]) {
    try {
      const lines = await (others[name] ?? readBy)(name)
      const wrong = compareWithTable(
        name,
        lines.map(([library]) => library),
      )
      for (const each of wrong) console.log(`FAILED ${each}`)
      if (!report(lines) || wrong.length > 0) process.exitCode = 1
    } catch (error) {
      console.log(`FAILED ${name}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
      process.exitCode = 1
    }
  }
} finally {
  server.close()
  rmSync(folder, { recursive: true, force: true })
}
