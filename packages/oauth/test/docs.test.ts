import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { buildJwksPath, buildMetadataPath } from '../src/endpoints/metadata.ts'
import * as oauth from '../src/index.ts'
import { resolveOptions } from '../src/options.ts'
import { routes } from '../src/routes.ts'

const read = (relative: string) => readFileSync(new URL(relative, import.meta.url), 'utf8')
const page = (name: string) => read(`../../../docs/reference/${name}.md`)

interface Table {
  readonly columns: readonly string[]
  readonly rows: ReadonlyArray<Readonly<Record<string, string>>>
}

/** The first table below a heading; each row is keyed by column name. */
function tableBelow(markdown: string, heading: string): Table {
  const [, section = ''] = markdown.split(`\n${heading}\n`)
  const own = section.split(/\n#+ /)[0] ?? ''
  const lines = own.split('\n').filter((line) => line.startsWith('|'))
  const [columns = [], , ...rows] = lines.map(cellsOf)
  const named = rows.map((cells) =>
    Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? ''])),
  )
  return { columns, rows: named }
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, line.lastIndexOf('|')).split(/(?<!\\)\|/)
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

const plain = (cell = '') => cell.replaceAll('`', '')
const listOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')

interface Member {
  readonly name: string
  readonly type: string
  readonly required: boolean
}

/** The members of an interface, read from its source. */
function membersOf(file: string, name: string): Member[] {
  const text = read(`../src/${file}`)
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === name,
  )
  if (!found) throw new Error(`There is no interface ${name} in ${file}`)
  return found.members.flatMap((member) => {
    if (!ts.isPropertySignature(member) && !ts.isMethodSignature(member)) return []
    const result = member.type?.getText() ?? 'unknown'
    const type = ts.isMethodSignature(member)
      ? `(${member.parameters.map((parameter) => parameter.getText()).join(', ')}) => ${result}`
      : result
    const required = member.questionToken === undefined
    return [{ name: member.name.getText(), type, required }]
  })
}

describe('docs/reference/routes.md', () => {
  const { rows } = tableBelow(page('routes'), '## All routes')

  it('lists every route, and no other', () => {
    const issuer = new URL('https://api.example.com')
    const offered = [
      ...routes.map(({ method, path }) => `${method} /oauth${path}`),
      `GET ${buildMetadataPath(issuer)}`,
      `GET ${buildJwksPath(issuer)}`,
    ]
    expect(rows.map(({ Method, Path }) => `${Method} ${plain(Path)}`)).toEqual(offered)
  })

  it('describes the caller, input and output of each route', () => {
    for (const { Caller, Request, Reply } of rows) {
      expect(Caller).toMatch(/^(anybody|client|user)/)
      expect(Request).not.toBe('')
      expect(Reply).not.toBe('')
    }
  })

  it.each([
    ['### Client', 'clients/client.ts', 'ClientJson'],
    ['### Token', 'tokens/token-json.ts', 'TokenJson'],
  ])('lists the JSON fields of %s', (heading, file, name) => {
    const [, section = ''] = page('routes').split(`\n${heading}\n`)
    const [sentence = ''] = section.split('.')
    expect(listOf(sentence)).toEqual(membersOf(file, name).map((member) => member.name))
  })
})

describe('docs/reference/errors.md', () => {
  const { rows } = tableBelow(page('errors'), '## All errors')

  /** One error of each class, made with the arguments that produce all its headers. */
  const special: Record<string, () => oauth.OAuthError> = {
    InvalidClient: () => new oauth.InvalidClient('text', { challenge: true }),
    InsufficientScope: () => new oauth.InsufficientScope('text', ['a']),
    InsufficientUserAuthentication: () => new oauth.InsufficientUserAuthentication('text', {}),
    UseDpopNonce: () => new oauth.UseDpopNonce('text', 'nonce'),
    MethodNotAllowed: () => new oauth.MethodNotAllowed(['GET']),
    ValidationFailed: () => new oauth.ValidationFailed({ name: ['text'] }),
  }
  type Constructor = new (message: string) => oauth.OAuthError
  const isErrorClass = (value: unknown): value is Constructor =>
    typeof value === 'function' && value.prototype instanceof oauth.OAuthError
  const exported = Object.entries(oauth).flatMap(([name, value]) =>
    isErrorClass(value) ? [{ name, error: special[name]?.() ?? new value('text') }] : [],
  )

  it('lists every class with its code, status, body and headers, and no other', () => {
    const documented = rows.map((row) => ({
      name: plain(row.Class),
      code: plain(row.Code),
      status: Number(row.Status),
      body: listOf(row['Members of the body']),
      headers: listOf(row.Headers),
    }))
    const real = exported.map(({ name, error }) => ({
      name,
      code: error.code,
      status: error.status,
      body: Object.keys(error.body()),
      headers: Object.keys(error.headers()),
    }))
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
    expect(documented.sort(byName)).toEqual(real.sort(byName))
  })

  it('explains when each error code occurs', () => {
    const advice = tableBelow(page('errors'), '## When, and what to do').rows
    const codes = exported.map(({ error }) => error.code)
    expect(advice.map((row) => plain(row.Code)).sort()).toEqual([...codes].sort())
    for (const { When } of advice) expect(When).not.toBe('')
  })

  it('lists every error code', () => {
    const source = read('../src/errors/oauth-error.ts')
    const [, table = ''] = source.split('const STATUS = {')
    const codes = [...(table.split('}')[0] ?? '').matchAll(/(\w+): \d+/g)].map(([, code]) => code)
    expect(codes.sort()).toEqual(exported.map(({ error }) => error.code as string).sort())
  })
})

describe('docs/reference/options.md', () => {
  const options = page('options')

  it.each([
    ['## AuthorizationServerOptions', 'Option', 'options.ts', 'AuthorizationServerOptions'],
    ['### RefreshTokenOptions', 'Option', 'grants/refresh-token.ts', 'RefreshTokenOptions'],
    ['### DeviceCodeOptions', 'Option', 'features/device/device-code.ts', 'DeviceCodeOptions'],
    ['### TokenExchangeOptions', 'Option', 'grants/token-exchange.ts', 'TokenExchangeOptions'],
    ['### JwtBearerOptions', 'Option', 'features/jwt-bearer/settings.ts', 'JwtBearerOptions'],
    ['### TrustedIssuer', 'Option', 'features/jwt-bearer/settings.ts', 'TrustedIssuer'],
    [
      '### IdentityAssertionOptions',
      'Option',
      'features/openid/identity-assertion-settings.ts',
      'IdentityAssertionOptions',
    ],
    ['### ResourceOptions', 'Option', 'resources/resources.ts', 'ResourceOptions'],
    ['### OutgoingOptions', 'Option', 'outgoing/outgoing.ts', 'OutgoingOptions'],
    [
      '### JwtClientAuthenticationOptions',
      'Option',
      'features/client-authentication/settings.ts',
      'JwtClientAuthenticationOptions',
    ],
    [
      '### ClientRegistrationOptions',
      'Option',
      'features/registration/settings.ts',
      'ClientRegistrationOptions',
    ],
    [
      '### ClientMetadataDocumentsOptions',
      'Option',
      'features/registration/client-metadata-documents.ts',
      'ClientMetadataDocumentsOptions',
    ],
    ['### OpenIdOptions', 'Option', 'features/openid/settings.ts', 'OpenIdOptions'],
    ['### LogoutOptions', 'Option', 'features/openid/settings.ts', 'LogoutOptions'],
    ['### CorsOptions', 'Option', 'features/cors.ts', 'CorsOptions'],
    [
      '### PushedRequestsOptions',
      'Option',
      'features/requests/pushed-requests.ts',
      'PushedRequestsOptions',
    ],
    [
      '### RequestObjectsOptions',
      'Option',
      'features/requests/request-objects.ts',
      'RequestObjectsOptions',
    ],
    ['### McpOptions', 'Option', 'features/mcp/mcp.ts', 'McpOptions'],
    ['### DpopOptions', 'Option', 'features/dpop/settings.ts', 'DpopOptions'],
    ['### StepUpOptions', 'Option', 'features/step-up.ts', 'StepUpOptions'],
    [
      '### SignedIntrospectionOptions',
      'Option',
      'features/signed-introspection.ts',
      'SignedIntrospectionOptions',
    ],
    ['## NewClient', 'Option', 'clients/manage.ts', 'NewClient'],
    ['## ClientUpdate', 'Option', 'clients/update.ts', 'ClientUpdate'],
    ['## Users', 'Method', 'users/users.ts', 'Users'],
    ['## AdapterOptions', 'Option', 'adapters/options.ts', 'AdapterOptions'],
    ['## ScopeLimiter', 'Method', 'guard/scope-limits.ts', 'ScopeLimiter'],
    ['### ScopeLimits', 'Method', 'guard/scope-limits.ts', 'ScopeLimits'],
    ['## Pages', 'Member', 'pages/pages.ts', 'Pages'],
  ])(
    'lists every member of %s with its type and whether it is required',
    (heading, column, file, name) => {
      const { rows } = tableBelow(options, heading)
      const documented = rows.map((row) => ({ name: plain(row[column]), type: plain(row.Type) }))
      const members = membersOf(file, name)
      expect(documented).toEqual(members.map(({ name, type }) => ({ name, type })))
      // `Pages` has defaults for every member; of `database` and `storage` one is required.
      const exempt =
        name === 'Pages' ? members.map((member) => member.name) : ['database', 'storage']
      for (const [index, member] of members.entries()) {
        if (exempt.includes(member.name)) continue
        const isRequired = rows[index]?.Default === 'required'
        expect(`${member.name}: ${isRequired}`).toBe(`${member.name}: ${member.required}`)
      }
    },
  )

  it('states the defaults that the code uses', () => {
    const { rows } = tableBelow(options, '## AuthorizationServerOptions')
    const documented = new Map(rows.map((row) => [plain(row.Option), plain(row.Default)]))
    const said = (name: string) => documented.get(name)
    const defaults = resolveOptions({
      issuer: 'https://api.example.com',
      secret: 's'.repeat(32),
      storage: oauth.memoryStorage(),
      users: { findById: async () => null, fromRequest: async () => null },
      grants: [oauth.authorizationCode()],
    })
    const now = new Date(0)
    const year = 365 * 24 * 3600 * 1000
    expect(defaults.accessTokensExpireAt(now).getTime()).toBe(year)
    expect(defaults.refreshTokensExpireAt(now).getTime()).toBe(year)
    expect(defaults.personalAccessTokensExpireAt(now).getTime()).toBe(year)
    for (const name of ['accessTokens', 'refreshTokens', 'personalAccessTokens']) {
      expect(said(`${name}ExpireIn`)).toBe('1 year')
    }
    expect(said('signInUrl')).toBe(defaults.signInUrl)
    expect(said('path')).toBe(defaults.basePath)
    expect(said('scopes')).toBe(JSON.stringify(defaults.scopes))
    expect(said('audience')).toBe('the issuer')
    expect(defaults.audience).toBe(defaults.issuer)
    expect(said('accessTokenFormat')).toBe(defaults.accessTokenFormat)
    expect(said('signingAlgorithm')).toBe(defaults.signingAlgorithm)
    expect(said('keyPublishedAhead')).toBe(`${defaults.keyPublishedAheadSeconds / 60}m`)
    expect(said('cookieLifetime')).toBe(`${defaults.cookieSeconds / 3600}h`)
    expect(said('purgeEvery')).toBe(`${(defaults.purgeEverySeconds ?? 0) / 3600}h`)
    expect(said('migrate')).toBe(String(defaults.migrate))
  })

  it('lists every grant', () => {
    const { rows } = tableBelow(options, '## Grants')
    const { authorizationCode, refreshToken, password, clientCredentials, implicit } = oauth
    const { deviceCode, tokenExchange } = oauth
    const grants = {
      ...{ authorizationCode, refreshToken, password, clientCredentials, implicit },
      ...{ deviceCode, tokenExchange },
    }
    const real = Object.entries(grants).map(([name, create]) => {
      const { type, exchange } = create()
      return { function: `${name}()`, type: exchange ? type : '' }
    })
    const issuer = { issuer: 'a', jwksUri: 'https://a.example', scopes: [], userOf: {} }
    const { type } = oauth.jwtBearer({ issuers: [issuer] })
    real.push({ function: 'jwtBearer({ issuers })', type })
    const documented = rows.map((row) => ({
      function: plain(row.Function),
      type: plain(row['`grant_type`']),
    }))
    expect(documented).toEqual(real)
  })
})

describe('docs/reference/events.md', () => {
  it('lists every event with its payload, and no other', () => {
    const { rows } = tableBelow(page('events'), '```')
    const real = membersOf('events.ts', 'OAuthEvents').map(({ name, type }) => {
      const fields = [...type.matchAll(/readonly (\w+): ([^;\n}]+)/g)]
      const payload =
        fields.length > 0
          ? fields.map(([, field, text]) => `${field}: ${text?.trim()}`)
          : // A named type, followed by its members.
            [type, ...membersOf('events.ts', type).map((member) => member.name)]
      return { name, payload }
    })
    const documented = rows.map((row) => ({
      name: plain(row.Event),
      payload: listOf(row.Payload),
    }))
    expect(documented).toEqual(real)
  })
})

describe('docs/reference/testing.md', () => {
  it('lists every export', () => {
    const names = [...read('../src/testing/index.ts').matchAll(/\b(\w+)(?=,| \})/g)]
    const { rows } = tableBelow(`\n${page('testing')}`, '# Testing')
    expect(rows.map((row) => plain(row.Name)).sort()).toEqual(names.map(([, n]) => n).sort())
  })
})
