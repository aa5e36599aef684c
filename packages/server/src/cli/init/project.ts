import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '../usage-error.ts'
import { readSettings, type Settings } from './env-file.ts'

/** The fields of package.json that `tollgate init` reads. */
export interface PackageJson {
  readonly type?: unknown
  readonly main?: unknown
  readonly packageManager?: unknown
  readonly scripts?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The application in a folder, as its files describe it. */
export interface Project {
  readonly folder: string
  readonly packageJson: PackageJson
  /** Version ranges of the installed packages by name. */
  readonly packages: Readonly<Record<string, string>>
  /** Whether the project compiles or checks TypeScript. */
  readonly typescript: boolean
  /** Settings of the file `.env`, and for Next also of `.env.local`, which takes precedence. */
  readonly settings: Settings
}

/**
 * Reads the project in a folder.
 * @throws UsageError if the folder has no valid package.json.
 */
export function readProject(folder: string): Project {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) {
    throw new UsageError(
      `There is no package.json in ${folder}. Run tollgate init in the folder of your Express, Fastify, Hono or Next application.`,
    )
  }
  const packageJson = parsePackageJson(file)
  const packages = { ...packageJson.devDependencies, ...packageJson.dependencies }
  return {
    folder,
    packageJson,
    packages,
    typescript: 'typescript' in packages || existsSync(join(folder, 'tsconfig.json')),
    settings: Object.assign(
      {},
      ...['.env', ...('next' in packages ? ['.env.local'] : [])].map((file) =>
        readSettings(readText(join(folder, file)) ?? ''),
      ),
    ),
  }
}

function parsePackageJson(file: string): PackageJson {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`)
  }
  throw new UsageError(`${file} must contain a JSON object`)
}

/** Reads a text file. `null` if it does not exist. */
export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new UsageError(`${file} cannot be read: ${message}`)
  }
}

/**
 * Names of files in which applications are usually made, without their extension. The files that
 * package.json names come first.
 */
const USUAL_NAMES = ['index', 'app', 'server', 'main'].flatMap((name) => [`src/${name}`, name])
const EXTENSIONS = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs']

/** Lists source files, by paths relative to the folder, that may make the application. */
export function listEntries({ folder, packageJson }: Project): string[] {
  const words = [packageJson.main, ...Object.values(packageJson.scripts ?? {})]
    .filter((text) => typeof text === 'string')
    .flatMap((text) => text.match(/[\w./-]+\.[cm]?[jt]s\b/g) ?? [])
    .map((path) => path.replace(/^\.\//, ''))
    .filter((path) => !/^(?:dist|build|out|node_modules)\/|^\.\.|^\/|\.config\./.test(path))
  const usual = USUAL_NAMES.flatMap((name) => EXTENSIONS.map((extension) => `${name}.${extension}`))
  return [...new Set([...words, ...usual])].filter((path) => existsSync(join(folder, path)))
}

/** Finds the port on which the application listens, from its settings and from its source or its command line. */
export function findPort(source: string, settings: Settings): number {
  const text =
    settings.PORT ??
    /\bPORT\W{1,10}?(?:\?\?|\|\|)\s*['"]?(\d{2,5})\b/.exec(source)?.[1] ??
    /\.listen\(\s*(?:\{\s*port:\s*)?['"]?(\d{2,5})\b/.exec(source)?.[1] ??
    /(?:\s-p|--port)[ =](\d{2,5})\b/.exec(source)?.[1] ??
    /\bport\s*[:=]\s*['"]?(\d{2,5})\b/i.exec(source)?.[1]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : 3000
}

/** How a package manager is recognized, and how it installs packages. */
export interface PackageManager {
  readonly name: string
  readonly lockFiles: readonly string[]
  /** Arguments that install packages. `dev` adds them to `devDependencies`. */
  install(packages: readonly string[], dev: boolean): readonly string[]
  /** The command that runs a script of package.json. */
  run(script: string): string
}

const manager = (
  name: string,
  lockFiles: readonly string[],
  verb: readonly string[],
): PackageManager => ({
  name,
  lockFiles,
  install: (packages, dev) => [...verb, ...(dev ? ['-D'] : []), ...packages],
  run: (script) => `${name} ${name === 'yarn' ? '' : 'run '}${script}`,
})

const NPM = manager(
  'npm',
  ['package-lock.json', 'npm-shrinkwrap.json'],
  ['install', '--no-audit', '--no-fund', '--prefer-offline'],
)

export const PACKAGE_MANAGERS: readonly PackageManager[] = [
  manager('pnpm', ['pnpm-lock.yaml'], ['add']),
  manager('yarn', ['yarn.lock'], ['add']),
  manager('bun', ['bun.lock', 'bun.lockb'], ['add']),
  NPM,
]

/**
 * Finds the package manager of a project: by the field `packageManager`, by the lock file in the
 * folder or in one above it, or by the program that runs this command (`userAgent`, such as
 * `pnpm/10.2.0 node/v22`). npm if nothing says otherwise.
 */
export function findPackageManager(project: Project, userAgent = ''): PackageManager {
  const named = (text: string) =>
    PACKAGE_MANAGERS.find(({ name }) => text === name || text.startsWith(`${name}@`))
  const { packageManager } = project.packageJson
  const declared = typeof packageManager === 'string' ? named(packageManager) : undefined
  if (declared) return declared
  for (let folder = project.folder; ; folder = dirname(folder)) {
    const locked = PACKAGE_MANAGERS.find(({ lockFiles }) =>
      lockFiles.some((file) => existsSync(join(folder, file))),
    )
    if (locked) return locked
    if (existsSync(join(folder, '.git')) || dirname(folder) === folder) break
  }
  return named(userAgent.replace(/\/.*$/s, '')) ?? NPM
}
