import ts from 'typescript'

const { SyntaxKind: Kind } = ts

/** The nearest wrong operator: with the opposite treatment of equal values, or the negation. */
const WRONG = new Map([
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
])
const EITHER = [Kind.AmpersandAmpersandToken, Kind.BarBarToken]

/**
 * Creates every mutant of a source: the whole text with one mistake, which `was` and `became`
 * describe.
 */
export function makeMutants(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const mutants = []
  const replace = (node, became, around = node) => {
    const [start, end] = [node.getStart(source), node.getEnd()]
    const mutated = text.slice(0, start) + became + text.slice(end)
    const [from, to] = [around.getStart(source), around.getEnd()]
    mutants.push({
      line: source.getLineAndCharacterOfPosition(start).line + 1,
      was: inOneLine(text.slice(from, to)),
      became: inOneLine(text.slice(from, start) + became + text.slice(end, to)),
      text: mutated,
    })
  }
  const visit = (node) => {
    for (const [target, became, around] of mistakesIn(node)) replace(target, became, around)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants
}

const inOneLine = (text) => text.replace(/\s+/g, ' ').trim()

/**
 * The possible mistakes at a node: the replaced range, its replacement, and the piece of source
 * that identifies the mistake.
 */
function mistakesIn(node) {
  if (ts.isExpressionStatement(node)) return [[node, '']]
  if (ts.isIfStatement(node)) return decide(node.expression)
  if (ts.isConditionalExpression(node)) return decide(node.condition)
  if (!ts.isBinaryExpression(node)) return []
  const { left, right, operatorToken } = node
  if (EITHER.includes(operatorToken.kind)) {
    return [left, right].map((side) => [node, side.getText()])
  }
  const wrong = WRONG.get(operatorToken.kind)
  return wrong ? [[operatorToken, wrong, node]] : []
}

const decide = (condition) => [
  [condition, 'true', condition.parent],
  [condition, 'false', condition.parent],
]
