import { type BillingName, INIT_BILLING_CHOICES, type InitChoices } from './choices.ts'

/** The parts of the generated file that differ between frameworks. */
export interface ServerTemplate {
  /** Adapter of the framework, such as `Express` for `forExpress` of `@tollgate/oauth/express`. */
  readonly adapter: string
  /** Further imports, as whole lines. */
  readonly imports: string
  /** Type of the request that `signedIn()` receives. */
  readonly request: string
  /** Expression for the path of this request. */
  readonly path: string
  /** Example of a filled-in `signedIn()`, and what else there is to know about it. */
  readonly example: readonly string[]
  /** Whether Node must load `.env`, because the framework does not. */
  readonly loadsEnv: boolean
  /** Further members of the option `users`. */
  readonly users: string
  /** The exports: routes and guards. */
  readonly exports: string
  /** Path of the generated file, for messages. */
  readonly file: string
  readonly port: number
}

/** The first line of the generated file, by which people know where it comes from. */
const TITLE = '// Created by `npx tollgate init`. The file is yours: change it as you like.'

/** Whether a source file uses the authorization server, so that it is not another program's. */
export const createsServer = (source: string): boolean => source.includes('@tollgate/oauth')

/** Composes the generated file. What only TypeScript has stands between « and ». */
export function composeServer(parts: ServerTemplate, choices: InitChoices): string {
  return [
    TITLE,
    imports(parts, choices),
    loadEnv(parts),
    people(parts, choices),
    open(parts, choices),
  ]
    .concat(parts.exports)
    .filter((text) => text !== '')
    .map((text) => `${text.trim()}\n`)
    .join('\n')
    .replace(`${TITLE}\n\n`, `${TITLE}\n`)
}

/** The instances that the generated file exports, by which `tollgate --config` finds them. */
const instances = (billing: BillingName) =>
  billing === 'none' ? 'database, oauth' : 'database, oauth, billing'

/** Exports the instances of an ES module, which waits for the database while it is loaded. */
export const renderInstanceExports = ({ billing }: InitChoices): string =>
  `export const { ${instances(billing)} } = await open()`

/** Exports promises of the instances, and what `adapter` makes of them, as a promise `adapter`. */
export function renderPromiseExports({ billing }: InitChoices, adapter: string): string {
  const lines = instances(billing)
    .split(', ')
    .map((name) => `export const ${name} = opening.then(({ ${name} }) => ${name})`)
  const webhooks = `{
  ...for${adapter}(oauth, { signedIn }),
  billingRoutes: billingFor${adapter}(billing).routes,
}`
  const made =
    billing === 'none'
      ? `({ oauth }) => for${adapter}(oauth, { signedIn })`
      : `({ oauth, billing }) => (${webhooks})`
  return `
// CommonJS has no top-level await: these are promises, and requests wait until the database is open.
const opening = open()
${lines.join('\n')}
const adapter = opening.then(${made})`
}

function imports(
  { adapter, imports: more, loadsEnv }: ServerTemplate,
  choices: InitChoices,
): string {
  const path = adapter.toLowerCase()
  const billing = choices.billing !== 'none'
  const lines = [
    loadsEnv && `import { existsSync } from 'node:fs'`,
    billing && `import { createBilling } from '@tollgate/billing'`,
    billing && `import { for${adapter} as billingFor${adapter} } from '@tollgate/billing/${path}'`,
    `import { connect } from '@tollgate/database'`,
    `import {`,
    choices.users === null && `«  type ApplicationUser,\n»  authorizationCode,`,
    choices.users !== null && `  authorizationCode,`,
    `  clientCredentials,`,
    `  createAuthorizationServer,`,
    `  refreshToken,`,
    `  ServerError,`,
    `«  type SignedIn,\n»} from '@tollgate/oauth'`,
    `import { for${adapter} } from '@tollgate/oauth/${path}'`,
    more,
  ]
  return lines.filter(Boolean).join('\n')
}

function loadEnv({ loadsEnv }: ServerTemplate): string {
  if (!loadsEnv) return ''
  return `
// While you develop, the settings are in .env. In production, set them in the environment.
if (existsSync('.env')) process.loadEnvFile()`
}

function people({ request, path, example, file }: ServerTemplate, { users }: InitChoices): string {
  const signedIn = `
/**
 * TODO: Return the user who is signed in on this request, or null if nobody is.
${example.map((line) => ` * ${line}`.trimEnd()).join('\n')}
 */
async function signedIn(request«: ${request}»)«: Promise<SignedIn | null>» {
  throw new ServerError(
    \`Nobody can sign in at \${${path}} yet: fill in signedIn() in ${file}\`,
  )
}
`
  if (users !== null) return signedIn
  return `${signedIn}
/** TODO: Return the user with this id. Return null if there is none, or if the account is disabled. */
async function findById(id«: string»)«: Promise<ApplicationUser | null>» {
  throw new ServerError(\`User \${id} cannot be found yet: fill in findById() in ${file}\`)
}
`
}

function open({ users: more, port }: ServerTemplate, { users, billing }: InitChoices): string {
  const { options } = INIT_BILLING_CHOICES[billing]
  const found =
    users === null
      ? 'findById'
      : `
      async findById(id«: string») {
        const people = database.kysely.selectFrom('${users}').selectAll()
        return (await people.where('id', '=', id).executeTakeFirst()) ?? null
      }`
  const sales =
    options === ''
      ? ''
      : `
  const billing = createBilling({
    database,
    users: { table: '${users}' },
    ${options}
  })`
  const table = users?.includes('.') ? `'${users}'` : users
  const tables = users === null ? '' : `«<{ ${table}: { id: string | number } }>»`
  return `
async function open() {
  const database = await connect${tables}(process.env.DATABASE_URL)
  const oauth = createAuthorizationServer({
    issuer: process.env.TOLLGATE_URL ?? 'http://localhost:${port}', // the public address of this server
    secret: process.env.TOLLGATE_SECRET,
    database,
    users: {${users === null ? ` ${found}${more} ` : `${found}${more},\n    `}},
    scopes: { read: 'Read your data', write: 'Change your data' },
    grants: [authorizationCode(), refreshToken(), clientCredentials()],
    signInUrl: '/login', // your sign-in page
  })${sales}
  return { ${instances(billing)} }
}
`
}
