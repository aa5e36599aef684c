// Writes the table of docs/reference/clients.md: the tested programs, their versions and features.
// Versions come from the manifests that the programs are installed from. The programs of a row are
// compared with those that have run.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const DOCUMENT = fileURLToPath(new URL('../../docs/reference/clients.md', import.meta.url))
const START = '<!-- the table of scripts/foreign/table.mjs -->'
const END = '<!-- end of the table -->'

function manifest(path) {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

function found(text, pattern) {
  const version = pattern.exec(text)?.[1]
  if (version === undefined) throw new Error(`There is no ${pattern} in the manifest`)
  return version
}

const npm = (name, part = 'node') => JSON.parse(manifest(`${part}/package.json`)).dependencies[name]
const pip = (name, part = 'python') =>
  found(manifest(`${part}/requirements.txt`), new RegExp(`^${name}(?:\\[.*\\])?==(.+)$`, 'm'))
const maven = (name) =>
  found(
    manifest('java/pom.xml'),
    new RegExp(`<artifactId>${name}</artifactId>\\s*<version>([^<]+)`),
  )
const go = (name, part = 'go') => found(manifest(`${part}/go.mod`), new RegExp(`${name} v(\\S+)`))

const SIGN_IN = 'code flow with PKCE, ID token with nonce, UserInfo, refresh'
const VERIFIES =
  'accepts valid access tokens; refuses ID tokens, and access tokens that are for another audience, expired or changed'
const MCP = 'with only the URL of an MCP server: discovery, registration, consent, calls of tools'

/** The rows. `runs` are the names under which the programs of `part` report. */
export const ROWS = [
  {
    client: 'openid-client',
    version: npm('openid-client'),
    did: `discovery, ${SIGN_IN}, introspection, revocation; refuses a response with another \`state\``,
    part: 'node',
    runs: ['openid-client'],
  },
  {
    client: 'oauth4webapi',
    version: npm('oauth4webapi'),
    did: `discovery, ${SIGN_IN}; refuses a response with another \`state\``,
    part: 'node',
    runs: ['oauth4webapi'],
  },
  {
    client: 'Auth.js (`@auth/core`)',
    version: npm('@auth/core'),
    did: 'signs a user in, from its own sign-in page to a session; refuses the callback in another browser',
    part: 'node',
    runs: ['Auth.js'],
  },
  {
    client: 'passport-openidconnect',
    version: npm('passport-openidconnect'),
    did: 'signs a user in, in Express with sessions; refuses the callback in another browser',
    part: 'node',
    runs: ['passport-openidconnect'],
  },
  {
    client: 'express-oauth2-jwt-bearer, resource server',
    version: npm('express-oauth2-jwt-bearer'),
    did: VERIFIES,
    part: 'node',
    runs: ['express-oauth2-jwt-bearer', 'express-oauth2-jwt-bearer, strict'],
  },
  {
    client: 'jose, resource server',
    version: npm('jose'),
    did: VERIFIES,
    part: 'node',
    runs: ['jose'],
  },
  {
    client: 'Authlib, client',
    version: pip('Authlib'),
    did: `${SIGN_IN}, introspection, revocation, client authentication by a key (private_key_jwt)`,
    part: 'python',
    runs: [
      'Authlib, code flow, UserInfo, refresh, introspection, revocation',
      'Authlib, private_key_jwt',
    ],
  },
  {
    client: 'Authlib, resource server (RFC 9068)',
    version: pip('Authlib'),
    did: VERIFIES,
    part: 'python',
    runs: ['Authlib, RFC 9068 validator'],
  },
  {
    client: 'PyJWT, resource server',
    version: pip('PyJWT'),
    did: VERIFIES,
    part: 'python',
    runs: ['PyJWT'],
  },
  {
    client: 'go-oidc with x/oauth2, client',
    version: `${go('coreos/go-oidc/v3')} with ${go('golang.org/x/oauth2')}`,
    did: `discovery, ${SIGN_IN}; client credentials; the server refuses another code verifier`,
    part: 'go',
    runs: ['x/oauth2 and go-oidc, code flow, UserInfo, refresh', 'x/oauth2, client credentials'],
  },
  {
    client: 'go-oidc, resource server',
    version: go('coreos/go-oidc/v3'),
    did: VERIFIES,
    part: 'go',
    runs: ['go-oidc'],
  },
  {
    client: 'Spring Security, client (`oauth2Login`)',
    version: maven('spring-security-oauth2-client'),
    did: `discovery by \`issuer-uri\`, ${SIGN_IN}; refuses the callback in another browser`,
    part: 'java',
    runs: ['Spring Security, client'],
  },
  {
    client: 'Spring Security, resource server',
    version: maven('spring-security-oauth2-resource-server'),
    did: `configured by \`issuer-uri\`, by \`jwk-set-uri\` and as RFC 9068: ${VERIFIES}`,
    part: 'java',
    runs: [
      'Spring Security, fromIssuerLocation',
      'Spring Security, withJwkSetUri',
      'Spring Security, createAtJwtValidator',
    ],
  },
  {
    client: 'Nimbus OAuth 2.0 SDK',
    version: maven('oauth2-oidc-sdk'),
    did: `code flow with PKCE, ID token with nonce, UserInfo; ${VERIFIES}`,
    part: 'java',
    runs: ['Nimbus OAuth 2.0 SDK, code flow and UserInfo', 'Nimbus JOSE + JWT'],
  },
  {
    client: 'oauth2-proxy',
    version: go('github.com/oauth2-proxy/oauth2-proxy/v7', 'proxy'),
    did: 'signs a user in with PKCE before it shows a page; refuses the callback in another browser',
    part: 'proxy',
    runs: ['oauth2-proxy'],
  },
  {
    client: 'MCP SDK for TypeScript (`@modelcontextprotocol/client`)',
    version: npm('@modelcontextprotocol/client', 'mcp'),
    did: MCP,
    part: 'mcp',
    runs: ['MCP SDK for TypeScript 2'],
  },
  {
    client: 'MCP SDK for TypeScript (`@modelcontextprotocol/sdk`)',
    version: npm('@modelcontextprotocol/sdk', 'mcp'),
    did: MCP,
    part: 'mcp',
    runs: ['MCP SDK for TypeScript 1'],
  },
  {
    client: 'MCP SDK for Python (`mcp`)',
    version: pip('mcp', 'mcp'),
    did: `${MCP}; asks the user again for the scope of another tool; the next connection uses the stored tokens`,
    part: 'mcp',
    runs: ['MCP SDK for Python'],
  },
  {
    client: 'mcp-remote',
    version: npm('mcp-remote', 'mcp'),
    did: `${MCP}, as the local server of a program that does not support OAuth`,
    part: 'mcp',
    runs: ['mcp-remote'],
  },
]

/** Webhook libraries and providers are not clients of the authorization server. */
const WITHOUT_ROWS = ['upstream', 'webhooks']

export function renderTable() {
  const rows = ROWS.map(
    ({ client, version, did, part }) =>
      `| ${client} | ${version} | ${did} | \`npm run check:foreign -- ${part}\` |`,
  )
  return ['| client | version | what it did | run by |', '|---|---|---|---|', ...rows].join('\n')
}

/**
 * Finds differences between the table and a run of one part: rows that did not run, and programs
 * without a row.
 */
export function compareWithTable(part, libraries) {
  if (WITHOUT_ROWS.includes(part)) return []
  const named = ROWS.filter((row) => row.part === part).flatMap(({ runs }) => runs)
  const wrong = []
  for (const name of named) {
    if (!libraries.includes(name)) wrong.push(`${name} is in the table and did not run`)
  }
  for (const name of new Set(libraries)) {
    if (!named.includes(name)) wrong.push(`${name} ran and is not in the table`)
  }
  if (readTable() !== renderTable()) {
    wrong.push(`${DOCUMENT} has another table: npm run check:foreign -- --write`)
  }
  return wrong
}

function split(text) {
  const [before, rest = ''] = text.split(`${START}\n`)
  const [table, after = ''] = rest.split(`\n${END}`)
  return { before, table, after }
}

export function readTable() {
  return split(readFileSync(DOCUMENT, 'utf8')).table.trim()
}

export function writeTable() {
  const { before, after } = split(readFileSync(DOCUMENT, 'utf8'))
  writeFileSync(DOCUMENT, `${before}${START}\n\n${renderTable()}\n\n${END}${after}`)
}
