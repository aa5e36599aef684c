import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type PublicOption, readPublicOptions } from '../../../../test-support/public-options.ts'
import { optionsOf } from './library-options.ts'
import { parseSettings, settingRows } from './settings.ts'
import { variableRows } from './variables.ts'

/** Functions, and objects with functions, that are not settings of the service, with the reason. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  'oauth.storage': 'The service keeps everything in the database of DATABASE_URL.',
  'oauth.users': 'The service has its own users; the setting claims adds claims about them.',
  'oauth.grants': 'Each grant has a setting of its own.',
  'oauth.features': 'Each feature has a setting of its own.',
  'oauth.clock': 'The service uses the clock of the database.',
  'oauth.logger': 'The service writes its own log; TOLLGATE_LOG_LEVEL sets the level.',
  'billing.providers': 'The pages and commands of the service know Stripe and Braintree only.',
  'billing.authenticate': 'The sessions of the service identify people.',
  'billing.locale': 'People choose their language on the account page.',
  'billing.clock': 'The service uses the clock of the database.',
  'billing.logger': 'The service writes its own log; TOLLGATE_LOG_LEVEL sets the level.',
  'billing.observe': 'The service logs and traces this work itself.',
}

const BY_CLIENT = 'Whether a client may use it is decided per client, by its grants.'

/**
 * Values that are no settings because the service itself determines them: another value would
 * contradict its own tables, routes or pages. Each names the part that does.
 */
const OWN_PARTS: Readonly<Record<string, string>> = {
  'oauth.machineScopes': 'The operations of the management API determine its scopes.',
  'oauth.signInUrl': 'It is the sign-in page of the service.',
  'oauth.path':
    'The rate limits, the forms of the pages and the OpenAPI document are written for /oauth.',
  authorizationCode: BY_CLIENT,
  refreshToken: BY_CLIENT,
  clientCredentials: BY_CLIENT,
  'billing.users': 'They are in the table users of the service.',
  'billing.deliveries.applicationTypes':
    'Nothing in the service sends other types: it has no code of the application.',
  'billing.paths':
    'The routes of pages, limits and webhook commands of the service are written for these paths.',
  'billing.failedPath': 'It is a page of the service.',
}

const EXCEPTIONS = { ...FUNCTIONS, ...OWN_PARTS }

const options = readPublicOptions()
const rows = [...settingRows, ...variableRows].map(([name, row]) => ({
  name,
  paths: [...('option' in row && row.option ? [row.option] : []), ...(row.decides ?? [])],
  file: 'file' in row ? row.file : null,
}))

/** The members of an object that a schema accepts, of a list's entries too; `null` for any other schema. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | null {
  if (schema instanceof z.ZodObject) return schema.shape
  if (schema instanceof z.ZodArray) return shapeOf(schema.element)
  const { innerType, in: input } = (schema as z.ZodType).def as {
    innerType?: unknown
    in?: unknown
  }
  const inner = innerType ?? input
  return inner instanceof z.ZodType ? shapeOf(inner) : null
}

/** The options that no setting, and no exception, is for. */
function missingOf(option: PublicOption): string[] {
  if (option.path in EXCEPTIONS) return []
  const named = rows.filter(({ paths }) => paths.includes(option.path))
  if (named.length > 0) return named.flatMap(({ file }) => missingMembers(option, file))
  return option.isObject ? option.members().flatMap(missingOf) : [option.path]
}

/** The members of an option that the schema of its setting rejects. */
function missingMembers(option: PublicOption, schema: unknown): string[] {
  const shape = schema === null ? null : shapeOf(schema)
  if (shape === null) return []
  return option.members().flatMap((member) => {
    const inner = shape[member.path.slice(option.path.length + 1)]
    return inner === undefined ? missingOf(member) : missingMembers(member, inner)
  })
}

function allPaths(list: readonly PublicOption[], depth = 3): string[] {
  return list.flatMap((option) => [
    option.path,
    ...(depth > 0 ? allPaths(option.members(), depth - 1) : []),
  ])
}

describe('the options of the libraries oauth and billing', () => {
  it('can all be set by settings of the service, apart from listed exceptions', () => {
    expect([...new Set(options.flatMap(missingOf))]).toEqual([])
  })

  it('are exceptions only if they are functions or contain some, or are parts of the service itself', () => {
    const values = Object.keys(FUNCTIONS).filter(
      (name) => !options.some(({ path, hasFunctions }) => path === name && hasFunctions),
    )
    expect(values).toEqual([])
  })

  it('are found by reading the public types of both libraries, including functions and members', () => {
    expect(options.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['oauth.issuer', 'requirePkce', 'dpop.nonces', 'billing.mail']),
    )
    expect(options.length).toBeGreaterThan(120)
  })

  it('include every option named by a setting or an exception', () => {
    const existing = new Set(allPaths(options))
    const named = [...rows.flatMap(({ paths }) => paths), ...Object.keys(EXCEPTIONS)]
    expect(named.filter((path) => !existing.has(path))).toEqual([])
  })

  it('receive their values in the code that calls the library', () => {
    const code = ['features.ts', 'core.ts', 'billing.ts']
      .map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
      .join('\n')
    const owners = [...settingRows.values()].flatMap(({ option }) => option?.split('.')[0] ?? [])
    const unread = [...new Set(owners)].filter((owner) => !code.includes(`optionsOf('${owner}'`))
    expect(unread).toEqual([])
  })
})

describe('optionsOf()', () => {
  it('returns the options of one library function, nested by their paths, without options that are not set', () => {
    const settings = parseSettings({ dpopNonces: true, dpopAlgorithms: ['ES256'] })
    expect(optionsOf('dpop', settings)).toEqual({
      nonces: true,
      guardReplays: 'everywhere',
      rotateRefreshTokens: true,
      apiUrls: [],
      algorithms: ['ES256'],
    })
    const { stripe, braintree, trials } = optionsOf(
      'billing',
      parseSettings({ stripePrices: ['price_1'], braintreeTimeout: 5000, oneTrialPerPerson: true }),
    )
    expect({ stripe, braintree, trials }).toEqual({
      stripe: { prices: ['price_1'] },
      braintree: { timeout: 5000 },
      trials: { oncePerOwner: true },
    })
  })
})
