import { type CompletionPosition, type CompletionWord, GLOBAL_OPTIONS } from './words.ts'

/** Creates the script for zsh: to be sourced, or a file \`_tollgate\` in a folder of \`fpath\`. */
export function zshCompletion(positions: readonly CompletionPosition[]): string {
  return `#compdef tollgate
# Completion of tollgate in zsh. Load it after compinit with: source <(tollgate completion zsh)
_tollgate() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT - 1]}"
  local line='' word candidate
  local -i at
  local -a options names
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    case "$word" in
      ${GLOBAL_OPTIONS.map(({ flag }) => flag).join(' | ')}) at=$((at + 1)); continue ;;
      -*) continue ;;
    esac
    candidate="\${line:+$line }$word"
    case "$candidate" in
      ${positions
        .filter(({ path }) => path !== '')
        .map(({ path }) => `'${path}'`)
        .join(' | ')}) line="$candidate" ;;
    esac
  done
  case "$line $previous" in
${valueCases(positions)}
  esac
  case "$line" in
${positions.map(branch).join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    _describe -o 'option' options
  else
    _describe 'command' names
  fi
}
if [[ "\${funcstack[1]}" == '_tollgate' ]]; then
  _tollgate "$@"
else
  compdef _tollgate tollgate
fi
`
}

function branch({ path, words, flags }: CompletionPosition): string {
  const list = (all: readonly CompletionWord[]) => all.map(describe).join(' ')
  return `    '${path}') names=(${list(words)}); options=(${list(flags)}) ;;`
}

/** A word with its description, as \`_describe\` takes it. */
function describe({ word, description }: CompletionWord): string {
  const text = description === '' ? word : `${word}:${description.replaceAll(':', '\\:')}`
  return `'${text.replaceAll("'", "'\\''")}'`
}

function valueCases(positions: readonly CompletionPosition[]): string {
  const lines = GLOBAL_OPTIONS.map(
    ({ flag, values }) => `    *' ${flag}') ${values === 'files' ? '_files; ' : ''}return ;;`,
  )
  for (const { path, values } of positions) {
    for (const { flag, values: known } of values) {
      if (GLOBAL_OPTIONS.some((each) => each.flag === flag) || known === 'files') continue
      const add = known.length === 0 ? '' : `compadd -- ${known.join(' ')}; `
      lines.push(`    '${path} ${flag}') ${add}return ;;`)
    }
  }
  return lines.join('\n')
}
