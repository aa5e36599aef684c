// npm run conformance:mcp -- --package FILE --node FILE: runs the authorization scenarios of the npm package
// @modelcontextprotocol/conformance, which must be installed elsewhere, against a server of the library with mcp(), and
// acts as its user. docs/reference/conformance.md has instructions.
//
// The scenarios of extensions have their own authorization server and test clients. So the official client has to pass
// them first, and then gets a token from a server of the library in the same way.
//
//   --package FILE   dist/index.js of the package
//   --node FILE      the Node to run it with, 22 or later (default: this one)
//   --spec VERSION   version of MCP (default: 2026-07-28)
//   --report FILE    document to write the results into
//
// Ends with 1 if a check did not succeed. Warnings count as failures.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { authorizationCode, mcp, refreshToken } from '@tollgate/oauth'
import { startLibrary } from './conformance/library.mjs'
import { authorize, EXTENSIONS } from './conformance/mcp-client.mjs'
import { startExtensions } from './conformance/mcp-extensions.mjs'
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

/** URL of the MCP server that the tokens are for. It does not have to exist. */
const MCP_SERVER = `${ISSUER}/mcp`
const SCOPES = ['notes:read']
const extensions = await startExtensions({
  issuer: ISSUER,
  resource: MCP_SERVER,
  scopes: SCOPES,
  callback: CALLBACK,
})
const server = await startLibrary({
  issuer: ISSUER,
  offered: {
    scopes: { 'notes:read': 'Read your notes' },
    grants: [authorizationCode(), refreshToken(), extensions.grant],
    features: [mcp({ servers: { [MCP_SERVER]: { scopes: SCOPES } } })],
  },
})
const folder = mkdtempSync(join(tmpdir(), 'conformance-mcp-'))
try {
  await runScenarios(await registerClient())
  const checks = [...readChecks(folder), ...(await tryExtensions())]
  for (const { status, id, errorMessage = '' } of checks) console.log(status, id, errorMessage)
  if (given.report !== undefined) {
    const results = { version: packageVersion(), spec: given.spec, date: today(), checks }
    writeFileSync(given.report, writeChecksInto(readFileSync(given.report, 'utf8'), results))
  }
  if (checks.length === 0 || checks.some(({ status }) => status !== 'SUCCESS')) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
  await extensions.close()
}

/** Registers a client as an MCP host does that knows only the URL. */
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

/** Runs the scenarios. They print the URL that a person has to visit, and wait. */
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
  return endOf(child)
}

/**
 * Makes two checks of each extension: the official client passes the scenario, and gets a token
 * from our server in the same way.
 */
async function tryExtensions() {
  const contexts = await extensions.contexts(server.oauth)
  const checks = []
  for (const name of Object.keys(EXTENSIONS)) {
    const failed = await runClient(name)
    checks.push(checkOf(name, 'The official client passes the scenario', failed))
    const error = await authorize(MCP_SERVER, { name, ...contexts[name] }).catch(String)
    checks.push(
      checkOf(`${name} at Tollgate`, 'The same client gets a token in the same way', error),
    )
  }
  return checks
}

function checkOf(id, description, errorMessage = '') {
  return { id, description, errorMessage, status: errorMessage === '' ? 'SUCCESS' : 'FAILURE' }
}

/**
 * Runs the official client against the scenario's own server. Returns the names of failed checks.
 */
async function runClient(scenario) {
  const output = mkdtempSync(join(tmpdir(), 'conformance-mcp-client-'))
  const file = join(import.meta.dirname, 'conformance/mcp-client.mjs')
  const run = ['--command', `${process.execPath} ${file}`, '--scenario', scenario, '-o', output]
  try {
    await endOf(spawn(given.node, [given.package, 'client', ...run], { stdio: 'ignore' }))
    // Recorded requests are not checks.
    const checks = readChecks(output).filter(({ status }) => status !== 'INFO')
    if (checks.length === 0) return 'There are no results'
    const failed = checks.filter(({ status }) => status !== 'SUCCESS')
    return failed.map(({ id }) => id).join(', ')
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

function readChecks(place) {
  return readdirSync(place, { recursive: true })
    .filter((name) => basename(name) === 'checks.json')
    .flatMap((name) => JSON.parse(readFileSync(join(place, name), 'utf8')))
}

function endOf(child) {
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
