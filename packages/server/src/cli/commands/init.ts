import { createRequire } from 'node:module'
import { type CommandContext, type CommandResult, command } from '../command.ts'
import {
  BILLING_NAMES,
  DEFAULT_CHOICES,
  EXAMPLE_URLS,
  type InitChoices,
  parseBilling,
  parseDatabase,
} from '../init/choices.ts'
import { FRAMEWORKS, findFramework } from '../init/frameworks/all.ts'
import { type InitResult, initProject, isSetUp } from '../init/init.ts'
import {
  findPackageManager,
  type PackageManager,
  type Project,
  readProject,
} from '../init/project.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string }
const NAMES = Object.keys(FRAMEWORKS)

/** Adds Tollgate to the application in the working folder. */
export const initCommand = command({
  summary: 'add Tollgate to the Express, Fastify, Hono or Next application in this folder',
  options: {
    yes: option.flag('ask no questions; use the defaults of the options that are not given'),
    framework: option.choice(
      NAMES,
      '<name>',
      `framework, if package.json lists several: ${NAMES.join(', ')}`,
    ),
    database: option.text(
      '<url>',
      `database; default DATABASE_URL in .env, else ${DEFAULT_CHOICES.database}`,
    ),
    billing: option.choice(
      BILLING_NAMES,
      '<name>',
      `payment provider: ${BILLING_NAMES.join(', ')}; default ${DEFAULT_CHOICES.billing}`,
    ),
    users: option.text(
      '<table>',
      'table of this database with your users; default none: they are elsewhere',
    ),
    noInstall: option.flag('install no packages; the output lists them'),
    tarballs: option.text(
      '<folder>',
      'install the packages of Tollgate from the .tgz files of npm run pack',
    ),
  },
  async run({ options }, context): Promise<CommandResult> {
    const project = readProject(process.cwd())
    const framework = findFramework(project, options.framework)
    const manager = findPackageManager(project, context.packageManager ?? '')
    const asks = !options.yes && !isSetUp(project, framework)
    const choices = await choose(project, options, asks ? context : null)
    const { noInstall, tarballs } = options
    const how = { manager, install: !noInstall, version, tarballs }
    const result = await initProject({ project, framework, choices, ...how })
    return { json: toJson(result), text: describe(result, project, manager) }
  },
})

interface Given {
  readonly database: string | null
  readonly billing: InitChoices['billing'] | null
  readonly users: string | null
}

/**
 * Completes the options with the settings of the project and, if there is a `context`, with the
 * answers to questions.
 * @throws UsageError if there is no terminal to ask, or an answer is not valid.
 */
async function choose(
  { settings }: Project,
  given: Given,
  context: CommandContext | null,
): Promise<InitChoices> {
  const database = given.database === null ? settings.DATABASE_URL : parseDatabase(given.database)
  const { database: file, billing } = DEFAULT_CHOICES
  const questions = {
    database: `Database? A URL such as ${EXAMPLE_URLS}, or Enter for ${file}: `,
    billing: `Payment provider? ${BILLING_NAMES.join(', ')}, or Enter for ${billing}: `,
    users: 'Table of this database with your users? Its name, or Enter if they are elsewhere: ',
  }
  const answer = async (known: string | null | undefined, name: keyof typeof questions) => {
    if (known !== null && known !== undefined) return known
    const typed = context && (context.json ? null : await context.ask(questions[name]))
    if (context && typed === null) throw noTerminal()
    return typed?.trim() || null
  }
  return {
    database: parseDatabase((await answer(database, 'database')) ?? file),
    billing: parseBilling((await answer(given.billing, 'billing')) ?? billing),
    users: await answer(given.users, 'users'),
  }
}

const noTerminal = () =>
  new UsageError(
    'There is no terminal to ask on. Add --yes to use the defaults, and --database, --billing or --users to change them. Nothing was changed.',
  )

const toJson = (result: InitResult) => ({
  created: result.created,
  changed: result.changed,
  installed: result.installed,
  missing: result.missing,
  server: result.server,
  by_hand: result.byHand,
  url: result.url,
  client: result.client,
})

function describe(result: InitResult, project: Project, manager: PackageManager): string {
  const { created, changed, installed, missing, client, server, byHand, url } = result
  const lists = [
    ['Created', created],
    ['Changed', changed],
    ['Installed', installed],
  ] as const
  const done = lists
    .filter(([, names]) => names.length > 0)
    .map(([title, names]) => `${title.padEnd(10)} ${names.join(', ')}`)
  const parts = [
    done.length === 0 && client === null
      ? 'Nothing was changed: this application is set up already.'
      : done.join('\n'),
    missing.length > 0 &&
      `Install these packages:\n\n  ${manager.name} ${manager.install(missing, false).join(' ')}`,
    byHand,
    client && describeClient(client, url, startCommand(project, manager)),
    client && `Next, fill in signedIn() in ${server}, so that people can approve applications.`,
  ]
  return parts.filter(Boolean).join('\n\n')
}

/** The command that starts the application while it is developed. */
function startCommand({ packageJson }: Project, manager: PackageManager): string {
  const script = ['dev', 'start'].find((name) => packageJson.scripts?.[name] !== undefined)
  return script === undefined ? '' : ` (${manager.run(script)})`
}

function describeClient(
  { id, secret }: { id: string; secret: string },
  url: string,
  start: string,
) {
  return `A first client was created. Its secret is shown only now:

  Client id      ${id}
  Client secret  ${secret}

Start your application${start}, and get a token:

  curl -s ${url}/oauth/token -u ${id}:${secret} -d grant_type=client_credentials

Call a guarded route with the access_token that this prints:

  curl -s ${url}/api/whoami -H "Authorization: Bearer $TOKEN"`
}
