import type { Language } from './language.ts'

/**
 * Translates a template to the language of the project. Templates are TypeScript with ES modules;
 * what only TypeScript has stands between « and ».
 */
export function translate(template: string, { typescript, modules }: Language): string {
  if (typescript) return template.replaceAll(/[«»]/g, '')
  const script = template.replaceAll(/«[^»]*»/g, '').replaceAll(/\n{3,}/g, '\n\n')
  return modules === 'commonjs' ? toCommonJs(script) : script
}

function toCommonJs(script: string): string {
  const names = [...script.matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)].map(
    ([, name]) => name,
  )
  const body = script
    .replaceAll(/^import (\{[^}]*\}|\w+) from ('[^']+')/gm, (_all, bound: string, from: string) => {
      return `const ${bound.replaceAll(' as ', ': ')} = require(${from})`
    })
    .replaceAll(/^export (?=(?:async )?(?:const|function) )/gm, '')
  return `${body}\nmodule.exports = { ${names.join(', ')} }\n`
}
