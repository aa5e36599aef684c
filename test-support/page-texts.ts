import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Attributes of elements and properties of components whose text people read or hear. */
const READ_ATTRIBUTES =
  /^(?:title|label|hint|lead|caption|alt|placeholder|aria-label|what|text|term|action-text|stay|go|data-(?:title|text|action|done|label))$/

interface Source {
  readonly path: string
  readonly tree: ts.SourceFile
}

/**
 * Reads the sources of pages below these files and folders, without tests and message catalogues.
 */
export function readPageSources(paths: readonly string[]): Source[] {
  return paths.flatMap(listSourceFiles).map((path) => {
    const text = readFileSync(path, 'utf8')
    const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
    return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind) }
  })
}

function listSourceFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|(?:^|\/)messages\//.test(name))
    .map((name) => join(path, name))
}

/** Finds texts that are written in the sources instead of the catalogues, as `file:line text`. */
export function findLiteralTexts(
  sources: readonly Source[],
  exceptions: readonly string[],
): string[] {
  return sources.flatMap(({ path, tree }) => {
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      const text = readLiteralText(node)?.replace(/\s+/g, ' ').trim()
      if (text && !exceptions.includes(text)) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart())
        found.push(`${path}:${line + 1} ${text}`)
      }
      // Visitors do not see errors for developers.
      if (!isDeveloperError(node)) ts.forEachChild(node, visit)
    }
    visit(tree)
    return found
  })
}

function readLiteralText(node: ts.Node): string | null {
  if (ts.isJsxText(node)) return /\p{L}/u.test(node.text) ? node.text : null
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html')
    return readTemplateText(node.template)
  if (
    !ts.isStringLiteral(node) &&
    !ts.isNoSubstitutionTemplateLiteral(node) &&
    !ts.isTemplateExpression(node)
  )
    return null
  if (ts.isTaggedTemplateExpression(node.parent) || ts.isImportDeclaration(node.parent)) return null
  const text = ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…')
    : node.text
  if (isReadAttribute(node))
    return /\p{L}{2}/u.test(text) && !/^[\w.]+\.\w+$/.test(text) ? text : null
  // Sentences and titles: a capital letter, and words after it.
  return /^…?\p{Lu}\p{Ll}*[’']?\p{Ll}* \p{L}|\p{Ll}{2,}[.!?]$/u.test(text) && text.includes(' ')
    ? text
    : null
}

function isReadAttribute(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isJsxAttribute(parent)) return READ_ATTRIBUTES.test(parent.name.getText())
  return ts.isJsxExpression(parent) && isReadAttribute(parent)
}

function isDeveloperError(node: ts.Node): boolean {
  return ts.isNewExpression(node) && /^(?:Type|Range)?Error$/.test(node.expression.getText())
}

/** Returns the text of an HTML template without its tags. `null` if there is none. */
function readTemplateText(template: ts.TemplateLiteral): string | null {
  const raw = ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)].join('…')
  const text = raw.replace(/<!?[a-z/][^>]*>/gi, ' ').replace(/^[^<]*>|<[^>]*$/g, ' ')
  return /\p{L}{2}/u.test(text) && !/^\s*[a-z-]+(?:="[^"]*")?\s*$/.test(text) ? text : null
}

/**
 * Finds the ids of messages that no source uses. A template such as `signIn.${step}` uses all ids
 * that match.
 */
export function findUnusedMessages(sources: readonly Source[], ids: readonly string[]): string[] {
  const literals = new Set<string>()
  const patterns: RegExp[] = []
  for (const { tree } of sources) {
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
        literals.add(node.text)
      if (ts.isTemplateExpression(node)) {
        const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
        const pattern = parts
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('[\\w.-]+')
        if (parts.some((part) => /^\w+\.|\.\w+$/.test(part)))
          patterns.push(new RegExp(`^${pattern}$`))
      }
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  return ids.filter((id) => !literals.has(id) && !patterns.some((pattern) => pattern.test(id)))
}

/**
 * Finds messages of a translation whose placeholders differ from those in English, or that are not
 * translated at all.
 */
export function findDifferingPlaceholders(
  original: Readonly<Record<string, string>>,
  translation: Readonly<Record<string, string>>,
): string[] {
  return Object.keys(original).filter(
    (id) => listPlaceholders(original[id]).join() !== listPlaceholders(translation[id]).join(),
  )
}

function listPlaceholders(message = ''): string[] {
  const names = [...message.matchAll(/\{(\w+)(?=[},])/g)].map(([, name = '']) => name)
  return [...new Set(names)].sort()
}
