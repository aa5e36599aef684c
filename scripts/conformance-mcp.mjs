// npm run conformance:mcp -- --package FILE --node FILE: runs the authorization scenarios of the npm package
// @modelcontextprotocol/conformance, which is installed elsewhere, against a server of the library with mcp(), and does
// the part of the person. docs/reference/conformance.md says how.
//
//   --package FILE   dist/index.js of the package
//   --node FILE      the Node that runs it, 22 or later (this one)
//   --spec VERSION   of MCP (2026-07-28)
//   --report FILE    writes the results into this document
//
// Ends with 1 when a check did not succeed; a warning is one.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { mcp } from '@tollgate/oauth'
import { startLibrary } from './conformance/library.mjs'
import { approveAt } from './conformance/person.mjs'
import { writeChecksInto } from './conformance/report.mjs'

const { values: given } = parseArgs({
  options: {
    package: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    spec: { type: 'string', default: '2026-07-28' },
    report: { type: 'string' },
  },
})
if (given.package === undefined) {
  console.error('--package is missing; docs/reference/conformance.md says what it is')
  process.exit(2)
}

const ISSUER = 'http://localhost:9080'
const CALLBACK_PORT = '3030'
const CALLBACK = `http://127.0.0.1:${CALLBACK_PORT}/callback`

/** The MCP server that the tokens are for; nobody has to be there. */
const MCP_SERVER = `${ISSUER}/mcp`
const offered = {
  scopes: { 'notes:read': 'Read your notes' },
  features: [mcp({ servers: { [MCP_SERVER]: { scopes: ['notes:read'] } } })],
}

const server = await startLibrary({ issuer: ISSUER, offered })
const folder = mkdtempSync(join(tmpdir(), 'conformance-mcp-'))
try {
  await runScenarios(await registerClient())
  const checks = readdirSync(folder).flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
  )
  for (const { status, id, errorMessage = '' } of checks) console.log(status, id, errorMessage)
  if (given.report !== undefined) {
    const results = { version: packageVersion(), spec: given.spec, date: today(), checks }
    writeFileSync(given.report, writeChecksInto(readFileSync(given.report, 'utf8'), results))
  }
  if (checks.length === 0 || checks.some(({ status }) => status !== 'SUCCESS')) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
}

/** As an MCP host does that knows nothing but the address. */
async function registerClient() {
  const metadata = await (await fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json()
  const reply = await fetch(metadata.registration_endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'MCP conformance',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    }),
  })
  if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()).client_id
}

/** It prints the address that a person has to visit, and waits. */
function runScenarios(clientId) {
  const run = ['authorization', '--url', ISSUER, '--client-id', clientId, '--port', CALLBACK_PORT]
  const how = ['--resource', MCP_SERVER, '--spec-version', given.spec, '-o', folder]
  const child = spawn(given.node, [given.package, ...run, ...how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let visited = false
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part
    const address = /^(http\S*[?&]response_type=code\S*)$/m.exec(text)?.[1]
    if (address === undefined || visited) return
    visited = true
    approveAt(address, server).catch((error) => {
      console.error(error)
      child.kill()
    })
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
}

function packageVersion() {
  const file = join(dirname(given.package), '../package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}

function today() {
  return new Date().toISOString().slice(0, 10)
}
