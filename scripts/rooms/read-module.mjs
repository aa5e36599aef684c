import ts from 'typescript'

/**
 * Reads the imports of a source file and the words in its code. Comments do not count: they may
 * mention anything.
 */
export function readModule(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)
  const imports = []
  const words = []
  const lineOf = (node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1

  function visit(node) {
    const specifier = importedFrom(node)
    if (specifier) imports.push({ specifier: specifier.text, line: lineOf(specifier) })
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || isText(node)) {
      words.push({ text: node.text, line: lineOf(node) })
    }
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(source, visit)
  return { path, imports, words }
}

function importedFrom(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node)) return node.argument.literal
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return dynamic && isText(node.arguments[0]) ? node.arguments[0] : undefined
}

function isText(node) {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node) ||
    ts.isJsxText(node) ||
    ts.isRegularExpressionLiteral(node)
  )
}
