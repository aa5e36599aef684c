import { existsSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'
import { UsageError } from '../usage-error.ts'
import type { InitChoices } from './choices.ts'
import { translate } from './code.ts'
import type { FileChange, SourcePlan } from './framework.ts'
import { detectLanguage, type Language } from './language.ts'
import { type FrameworkMountRules, hasApplication, isMounted, mountIn } from './mount.ts'
import { findPort, listEntries, type Project, readText } from './project.ts'
import { composeServer, createsServer, type ServerTemplate } from './template.ts'

/** The parts of the generated file for a framework, in one language. */
export type EntryTemplate = Omit<ServerTemplate, 'adapter' | 'file' | 'port' | 'loadsEnv' | 'users'>

/** A framework whose applications are made in a file of their own. */
export interface EntryFramework {
  readonly name: string
  readonly adapter: string
  readonly rules: FrameworkMountRules
  /** Composes the parts. `null` if the framework is not supported with these modules. */
  template(language: Language, choices: InitChoices): EntryTemplate | null
}

/** Plans the generated file next to the file that makes the application, and mounts its routes. */
export function planEntryFile(
  { name, adapter, rules, template }: EntryFramework,
  project: Project,
  choices: InitChoices,
): SourcePlan {
  const { folder, packageJson } = project
  const sources = listEntries(project).map((path) => ({
    path,
    source: readText(join(folder, path)) ?? '',
  }))
  const mounted = sources.find(({ source }) => isMounted(source))
  const candidates = sources.filter(({ source }) => hasApplication(source, rules))
  const entry = mounted ?? (candidates.length === 1 ? candidates[0] : undefined)
  const path = entry?.path ?? guessPath(project)
  const language = detectLanguage(path, packageJson.type)
  const server = posix.join(dirname(path), `tollgate${extname(path)}`)
  const port = findPort((entry ?? candidates[0])?.source ?? '', project.settings)
  const parts = template(language, choices)
  if (!parts) {
    throw new UsageError(
      `${path} is a CommonJS module, and Tollgate supports ${name} only with ES modules. Add "type": "module" to package.json.`,
    )
  }
  const options = { ...parts, adapter, file: server, port, loadsEnv: true, users: '' }
  const text = translate(composeServer(options, choices), language)
  const changes: FileChange[] = []
  const present = readText(join(folder, server))
  if (present === null) changes.push({ path: server, before: null, after: text })
  else if (!createsServer(present)) throw createAlreadyExistsError(folder, server)
  if (mounted) return { changes, server, byHand: null, port }
  const specifier = specifierOf(server, language, project)
  const modules = loadsWithRequire(language, entry?.source ?? '') ? 'require' : 'esm'
  const edited = entry ? mountIn(entry.source, rules, specifier, modules) : null
  if (entry && edited !== null) {
    changes.unshift({ path: entry.path, before: entry.source, after: edited })
    return { changes, server, byHand: null, port }
  }
  return { changes, server, byHand: describeMount(rules, specifier, modules), port }
}

/** Creates the error for a file that `tollgate init` would create but that already exists. */
export function createAlreadyExistsError(folder: string, path: string): UsageError {
  return new UsageError(
    `${join(folder, path)} already exists and does not create a Tollgate server. Rename it, and run tollgate init again.`,
  )
}

/** Guesses the file that makes the application, for the extension and the folder of ours. */
function guessPath(project: Project): string {
  const extension = project.typescript ? 'ts' : 'js'
  return existsSync(join(project.folder, 'src')) ? `src/app.${extension}` : `app.${extension}`
}

/** Returns the path by which a file next to the generated file imports it. */
function specifierOf(server: string, language: Language, project: Project): string {
  const file = `./${posix.basename(server)}`
  if (language.modules === 'commonjs') return file.replace(/\.[jt]s$/, '').replace(/ts$/, 'js')
  if (!language.typescript) return file
  const config = readText(join(project.folder, 'tsconfig.json')) ?? ''
  const keepsExtension =
    /"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(config)
  return keepsExtension ? file : file.replace(/ts$/, 'js')
}

function loadsWithRequire({ modules, typescript }: Language, source: string): boolean {
  return modules === 'commonjs' && (!typescript || !/^import\b/m.test(source))
}

function describeMount(
  { statement }: FrameworkMountRules,
  specifier: string,
  modules: 'esm' | 'require',
): string {
  const load =
    modules === 'esm'
      ? `import { tollgate } from '${specifier}'`
      : `const { tollgate } = require('${specifier}')`
  return `Add these two lines where your application is made, before its other routes:\n\n  ${load}\n  ${statement('app')}`
}
