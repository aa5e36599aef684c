// Reads a Dockerfile and its ignore file, as far as npm run check:image needs them.

/** Instructions that describe the image, or how it is run, and change nothing when it is built. */
const INSTRUCTIONS = [
  ...['ARG', 'CMD', 'COPY', 'ENTRYPOINT', 'ENV', 'EXPOSE'],
  ...['FROM', 'HEALTHCHECK', 'RUN', 'USER', 'WORKDIR'],
]

/**
 * Returns the instructions of a Dockerfile: `{ line, name, flags, value }`. Fails on an instruction
 * that the check does not know, because a step that is skipped silently proves nothing.
 */
export function parseDockerfile(text) {
  const instructions = []
  let whole = ''
  let first = 0
  for (const [at, line] of text.split('\n').entries()) {
    if (/^\s*#/.test(line) || (whole === '' && line.trim() === '')) continue
    if (whole === '') first = at + 1
    if (line.endsWith('\\')) {
      whole += line.slice(0, -1)
      continue
    }
    instructions.push({ line: first, ...parseInstruction(whole + line, first) })
    whole = ''
  }
  return instructions
}

function parseInstruction(text, line) {
  const [, name = '', rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(text) ?? []
  if (!INSTRUCTIONS.includes(name.toUpperCase())) {
    throw new Error(`Line ${line}: check:image cannot execute ${name || text}`)
  }
  const flags = {}
  let value = rest
  for (;;) {
    const [flag, key, given] = /^--([\w-]+)=(\S+)\s+/.exec(value) ?? []
    if (!flag) break
    flags[key] = given
    value = value.slice(flag.length)
  }
  return { name: name.toUpperCase(), flags, value: value.trim() }
}

/** Replaces `$NAME` and `${NAME}`. A variable that is not set becomes empty. */
export function substitute(text, variables) {
  return text.replace(
    /\$(?:(\w+)|\{(\w+)\})/g,
    (_, plain, braced) => variables[plain ?? braced] ?? '',
  )
}

/** Returns the names and values of ENV or ARG, each written as `NAME=value`. */
export function parseAssignments(value, variables) {
  return value.split(/\s+/).map((each) => {
    const at = each.indexOf('=')
    return at < 0 ? [each, ''] : [each.slice(0, at), substitute(each.slice(at + 1), variables)]
  })
}

/** Returns the words of a command in the form of a JSON list, the only form that needs no shell. */
export function parseCommand(value, name) {
  const words = value.startsWith('[') ? JSON.parse(value) : null
  if (!Array.isArray(words)) throw new Error(`${name} is not a JSON list: ${value}`)
  return words
}

/**
 * Returns a function that tells whether a path of the build context is left out. The last pattern
 * that matches the path or one of its folders decides.
 */
export function createIgnore(text) {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const isKept = line.startsWith('!')
      return { isKept, pattern: toPattern(isKept ? line.slice(1) : line) }
    })
  return (path) => {
    const last = rules.findLastIndex(({ pattern }) => pattern.test(path))
    return {
      isIgnored: last >= 0 && !rules[last].isKept,
      // Whether a file in this folder may still be part of the context.
      mayHoldKept: rules.slice(last + 1).some(({ isKept }) => isKept),
    }
  }
}

/** A pattern also matches everything in a folder that it matches. */
function toPattern(pattern) {
  const source = pattern
    .replace(/^\/|\/$/g, '')
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => {
      if (part === '**/') return '(?:.*/)?'
      if (part === '**') return '.*'
      if (part === '*') return '[^/]*'
      if (part === '?') return '[^/]'
      return part.replace(/[.+^${}()|[\]\\]/g, '\\$&')
    })
    .join('')
  return new RegExp(`^${source}(?:/.*)?$`)
}

/** Returns the first Debian mirror for `main` that these sources of apt name, or `null`. */
export function findMirror(files) {
  for (const [name, text] of Object.entries(files)) {
    const uri = name.endsWith('.sources') ? mirrorOfStanzas(text) : mirrorOfLines(text)
    if (uri) return uri
  }
  return null
}

const isForSecurity = (uri) => /security/.test(uri)

function mirrorOfStanzas(text) {
  for (const stanza of text.split(/\n\s*\n/)) {
    const field = (name) => new RegExp(`^${name}:\\s*(.+)$`, 'im').exec(stanza)?.[1].trim() ?? ''
    if (/^no$/i.test(field('Enabled')) || !/\bdeb\b/.test(field('Types'))) continue
    if (!/\bmain\b/.test(field('Components'))) continue
    const uri = field('URIs').split(/\s+/)[0]
    if (/^https?:/.test(uri) && !isForSecurity(uri)) return uri
  }
  return null
}

function mirrorOfLines(text) {
  for (const line of text.split('\n')) {
    const [, uri] = /^\s*deb\s+(?:\[[^\]]*\]\s+)?(https?:\S+)\s+\S+\s+.*\bmain\b/.exec(line) ?? []
    if (uri && !isForSecurity(uri)) return uri
  }
  return null
}
