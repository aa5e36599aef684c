import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type BillingName, INIT_BILLING_CHOICES, type InitChoices } from '../choices.ts'
import { translate } from '../code.ts'
import { createAlreadyExistsError } from '../entry.ts'
import type { FileChange, Framework } from '../framework.ts'
import { findPort, type Project, readText } from '../project.ts'
import { composeServer, createsServer } from '../template.ts'

/** Packages that Next must not bundle: Node loads drivers, fonts and error classes itself. */
const EXTERNAL = ['@tollgate/oauth', '@tollgate/billing', '@tollgate/database']
const CONFIG_FILES = ['ts', 'mts', 'mjs', 'js'].map((extension) => `next.config.${extension}`)
const METHODS = 'export const { GET, POST, PUT, PATCH, DELETE } ='

/** Paths of billing's routes below the folder `app`. */
const BILLING_ROUTES: Readonly<Record<BillingName, readonly string[]>> = {
  none: [],
  stripe: ['stripe/webhook'],
  braintree: ['braintree/webhook'],
}

/**
 * Support for Next.js (App Router) in `tollgate init`: each route is a file, and the first request
 * opens the authorization server.
 */
export const next: Framework = {
  name: 'Next',
  package: 'next',
  major: 15,
  types: [],
  plan(project, choices) {
    const { folder, typescript } = project
    const extension = typescript ? 'ts' : 'js'
    const base = findBase(project)
    const server = posix.join(base, 'lib', `tollgate.${extension}`)
    const port = findPort(String(project.packageJson.scripts?.dev ?? ''), project.settings)
    const files = [
      [server, serverText(server, port, choices)],
      ...routeFiles(choices).map(([path, line]) => [
        posix.join(base, 'app', path, `route.${extension}`),
        routeText(path, line),
      ]),
    ] as const
    const changes: FileChange[] = files.flatMap(([path, text]) => {
      const after = translate(text, { typescript, modules: 'esm' })
      const before = readText(join(folder, path))
      if (before === null) return [{ path, before, after }]
      if (before === after || (path === server ? createsServer(before) : mentions(before)))
        return []
      throw createAlreadyExistsError(folder, path)
    })
    const config = planConfig(project)
    return { changes: [...changes, ...config.changes], server, byHand: config.byHand, port }
  },
}

/** Finds the folder that contains `app`, or should: beside `pages`, if there is one. */
function findBase({ folder }: Project): string {
  const inSources = ['src/app', 'src/pages'].some((path) => existsSync(join(folder, path)))
  return inSources && !existsSync(join(folder, 'app')) ? 'src' : ''
}

const mentions = (source: string) => /\/tollgate['"]/.test(source)

/** The route files: the folder below `app`, and the line that exports the handlers. */
function routeFiles({ billing }: InitChoices): readonly (readonly [path: string, line: string])[] {
  return [
    ['oauth/[...path]', `${METHODS} handlers`],
    ['.well-known/[...path]', `${METHODS} handlers`],
    ...BILLING_ROUTES[billing].map((path) => [path, `${METHODS} billingHandlers`] as const),
    ['api/whoami', WHOAMI],
  ]
}

const WHOAMI = `// A first guarded route, to try a token with. Remove it once routes of yours are guarded.
export const GET = auth('client', (_request, { user }) => Response.json({ client: user.clientId }))`

function routeText(path: string, line: string): string {
  const up = '../'.repeat(path.split('/').length + 1)
  const [name] = /\b(?:handlers|billingHandlers|auth)\b/.exec(line) ?? []
  return `import { ${name} } from '${up}lib/tollgate'\n\n${line}\n`
}

function serverText(file: string, port: number, choices: InitChoices): string {
  const billing = INIT_BILLING_CHOICES[choices.billing].options !== ''
  return composeServer(
    {
      adapter: 'Next',
      imports: '',
      request: 'Request',
      path: 'new URL(request.url).pathname',
      example: [
        'For example, with your own session:',
        '',
        "  const session = await readSession(request.headers.get('cookie'))",
        '  return session && { id: session.userId, sessionId: session.id }',
      ],
      loadsEnv: false,
      users: ', fromRequest: signedIn',
      exports: exportsOf(billing),
      file,
      port,
    },
    choices,
  )
}

const exportsOf = (billing: boolean) => `
// Next may load this file more than once in a process; globalThis exists once. While you develop,
// restart Next after a change of open().
const kept = globalThis« as { tollgate?: ReturnType<typeof open> | undefined }»

/** Opens Tollgate on the first call, because \`next build\` loads this file without a database. */
export function tollgate()«: ReturnType<typeof open>» {
  kept.tollgate ??= open().catch((error) => {
    kept.tollgate = undefined
    throw error
  })
  return kept.tollgate
}

export const { handlers, auth, scopes, scope } = forNext(async () => (await tollgate()).oauth)${
  billing
    ? '\nexport const billingHandlers = billingForNext(async () => (await tollgate()).billing).handlers'
    : ''
}`

/** Plans the setting of next.config that keeps our packages out of the bundle. */
function planConfig(project: Project): { changes: readonly FileChange[]; byHand: string | null } {
  const list = `serverExternalPackages: [${EXTERNAL.map((name) => `'${name}'`).join(', ')}]`
  const path = CONFIG_FILES.find((file) => existsSync(join(project.folder, file)))
  if (path === undefined) {
    const after = `/** @type {import('next').NextConfig} */\nconst nextConfig = {\n  ${list},\n}\n\nexport default nextConfig\n`
    return { changes: [{ path: 'next.config.mjs', before: null, after }], byHand: null }
  }
  const before = readText(join(project.folder, path)) ?? ''
  if (before.includes('@tollgate/oauth')) return { changes: [], byHand: null }
  const after = addToConfig(before, list)
  if (after !== null) return { changes: [{ path, before, after }], byHand: null }
  return { changes: [], byHand: `Add this setting to ${path}:\n\n  ${list},` }
}

/**
 * Adds a setting to the object of next.config. `null` if it is not certain which object that is, or
 * if it has the setting already.
 */
export function addToConfig(source: string, setting: string): string | null {
  const objects = [
    ...source.matchAll(
      /^(?:const \w+(?:: ?\w+)? = |module\.exports = |export default )\{(?=[ \t]*\r?\n|\})/gm,
    ),
  ]
  const [object, ...others] = objects
  if (!object || others.length > 0 || source.includes('serverExternalPackages')) return null
  const at = object.index + object[0].length
  const rest = source.slice(at)
  return `${source.slice(0, at)}\n  ${setting},${rest.startsWith('}') ? '\n' : ''}${rest}`
}
