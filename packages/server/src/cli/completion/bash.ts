import { type CompletionPosition, GLOBAL_OPTIONS } from './words.ts'

/** Creates the script for bash. It needs no package such as bash-completion. */
export function bashCompletion(positions: readonly CompletionPosition[]): string {
  return `# Completion of tollgate in bash. Load it with: source <(tollgate completion bash)
_tollgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local path='' words='' flags='' word candidate at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      ${GLOBAL_OPTIONS.map(({ flag }) => flag).join(' | ')}) at=$((at + 1)); continue ;;
      -*) continue ;;
    esac
    candidate="\${path:+$path }$word"
    case "$candidate" in
      ${casesOf(positions.filter(({ path }) => path !== '').map(({ path }) => path))}) path="$candidate" ;;
    esac
  done
  COMPREPLY=()
  case "$path $previous" in
${valueCases(positions)}
  esac
  case "$path" in
${positions.map(branch).join('\n')}
  esac
  case "$current" in
    -*) words="$flags" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _tollgate tollgate
`
}

function branch({ path, words, flags }: CompletionPosition): string {
  const list = (all: readonly { readonly word: string }[]) => all.map(({ word }) => word).join(' ')
  return `    '${path}') words='${list(words)}' flags='${list(flags)}' ;;`
}

const casesOf = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(' | ')

/** After an option with a value, the possible values follow, or a file, or anything. */
function valueCases(positions: readonly CompletionPosition[]): string {
  const files = 'COMPREPLY=($(compgen -f -- "$current")); '
  const lines = GLOBAL_OPTIONS.map(
    ({ flag, values }) => `    *' ${flag}') ${values === 'files' ? files : ''}return ;;`,
  )
  for (const { path, values } of positions) {
    for (const { flag, values: known } of values) {
      if (GLOBAL_OPTIONS.some((each) => each.flag === flag) || known === 'files') continue
      const words = known.join(' ')
      lines.push(
        words === ''
          ? `    '${path} ${flag}') return ;;`
          : `    '${path} ${flag}') COMPREPLY=($(compgen -W '${words}' -- "$current")); return ;;`,
      )
    }
  }
  return lines.join('\n')
}
