/** How an application of a framework is made, and how routes are added to it. */
export interface FrameworkMountRules {
  /** Package of the framework, such as `express`. */
  readonly package: string
  /** Pattern of the call that makes the application, up to its opening parenthesis. */
  readonly creation: RegExp
  /** Statement that mounts the routes, without a semicolon. `app` is the application's variable. */
  statement(app: string): string
  /**
   * Pattern of the line after which the code is inserted, in files that do not create the
   * application.
   */
  readonly marker?: { readonly line: RegExp; readonly app: string }
}

interface Place {
  /** Index at which the statement is inserted. */
  readonly at: number
  /** Index of the line that makes the application. */
  readonly start: number
  readonly indent: string
  readonly app: string
  readonly semicolon: boolean
}

/** A file that imports the generated file, whatever its folder. */
const MOUNTED = /['"]\.{1,2}\/(?:[\w.-]+\/)*tollgate(?:\.[cm]?[jt]s)?['"]/

/** Whether the source already imports the generated file. */
export const isMounted = (source: string): boolean => MOUNTED.test(source)

/** Whether the source makes an application of the framework. */
export const hasApplication = (source: string, rules: FrameworkMountRules): boolean =>
  findPlaces(source, rules).length > 0

/**
 * Returns the source with an import of the generated file and a statement that mounts its routes.
 * `null` if it is not certain where they belong: the application is made in several places or in
 * an unusual way, or the name `tollgate` is taken.
 */
export function mountIn(
  source: string,
  rules: FrameworkMountRules,
  specifier: string,
  modules: 'esm' | 'require',
): string | null {
  const [place, ...others] = findPlaces(source, rules)
  if (!place || others.length > 0 || /\btollgate\b/.test(source)) return null
  const newline = source.includes('\r\n') ? '\r\n' : '\n'
  const loading = [rules.package, '[^\'"]+']
    .map((name) => findLoading(source, name))
    .find((found) => found !== null && found.end <= place.start)
  // Only `require('fastify')()` loads the framework and makes the application in one line.
  if (!loading && place.indent !== '') return null
  const loadAt = loading ? loading.end : place.start
  const quote = loading?.text.includes('"') ? '"' : "'"
  const end = place.semicolon ? ';' : ''
  const from = `${quote}${specifier}${quote}`
  const load =
    modules === 'esm'
      ? `import { tollgate } from ${from}${end}`
      : `const { tollgate } = require(${from})${end}`
  const statement = `${place.indent}${rules.statement(place.app)}${end}`
  return [
    source.slice(0, loadAt),
    `${load}${newline}`,
    source.slice(loadAt, place.at),
    source[place.at - 1] === '\n' ? '' : newline,
    `${statement}${newline}`,
    source.slice(place.at),
  ].join('')
}

/** Finds the places where the statement may belong. Nothing certain is an empty list. */
function findPlaces(source: string, { creation, marker }: FrameworkMountRules): Place[] {
  const declared = new RegExp(
    `^([ \\t]*)(?:export )?(?:const|let|var) (\\w+)(?:: ?[\\w.<>]+)? = ${creation.source}\\(`,
    'gm',
  )
  const made = [...source.matchAll(declared)].flatMap(
    ({ 0: text, 1: indent = '', 2: app = '', index }) => {
      const close = findClosing(source, index + text.length - 1)
      const rest =
        close === null
          ? null
          : /^(;?)[ \t]*(?:\/\/[^\n]*)?(?:\n|\r\n|$)/.exec(source.slice(close + 1))
      if (close === null || rest === null) return []
      const at = close + 1 + rest[0].length
      // A chain of calls that continues on the next line makes the application, too.
      if (rest[1] === '' && /^\s*[.?([`]/.test(source.slice(at))) return []
      return [{ at, start: index, indent, app, semicolon: rest[1] === ';' }]
    },
  )
  if (made.length > 0 || !marker) return made
  return [...source.matchAll(marker.line)].map(({ 0: text, 1: indent = '', index }) => ({
    at: index + text.length,
    start: index,
    indent,
    app: marker.app,
    semicolon: false,
  }))
}

/** Finds the statement that loads a package: its text, and the index after its line. */
function findLoading(source: string, name: string): { text: string; end: number } | null {
  const from = `['"]${name}['"]`
  const patterns = [
    new RegExp(`^import\\b(?:(?!^import\\b)[^;])*?${from}\\)?;?[^\\n]*(?:\\n|$)`, 'm'),
    new RegExp(`^(?:const|let|var) [^\\n]*require\\(${from}\\)[^\\n]*(?:\\n|$)`, 'm'),
  ]
  for (const pattern of patterns) {
    const found = pattern.exec(source)
    if (found) return { text: found[0], end: found.index + found[0].length }
  }
  return null
}

/** Finds the parenthesis that closes the one at `open`. `null` if there is none. */
function findClosing(source: string, open: number): number | null {
  const tokens =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|[([{}\])]/g
  tokens.lastIndex = open
  let depth = 0
  for (let token = tokens.exec(source); token; token = tokens.exec(source)) {
    if ('([{'.includes(token[0])) depth += 1
    else if ('}])'.includes(token[0])) depth -= 1
    if (depth === 0) return token.index
  }
  return null
}
