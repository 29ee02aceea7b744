// SPDX-License-Identifier: MIT
/** terminal.mjs -- a program's screen in a terminal of tmux, as HTML. */
import { execFileSync } from 'node:child_process';

/** Colours of SGR 30 to 37 on white. */
const COLOURS = [
  '#24292f',
  '#b3261e',
  '#2e7d32',
  '#8a6100',
  '#1f5fb5',
  '#8e3ab0',
  '#00707d',
  '#57606a',
];

/** A terminal of COLUMNS times ROWS in which COMMAND runs. */
export class Terminal {
  constructor(command, columns, rows, env) {
    this.server = `sprof.page.${process.pid}`;
    this.env = { ...env, TERM: 'xterm-256color' };
    this.tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns));
    this.tmux('resize-window', '-x', String(columns), '-y', String(rows));
    this.tmux('respawn-window', '-k', ...command);
  }

  tmux(...args) {
    return execFileSync('tmux', ['-L', this.server, ...args], {
      encoding: 'utf8',
      env: this.env,
    });
  }

  /** The screen with its attributes. */
  capture() {
    return this.tmux('capture-pane', '-e', '-p');
  }

  close() {
    this.tmux('kill-server');
  }
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The style after the attributes CODES of SGR. */
function styled(style, codes) {
  const next = { ...style };
  for (const code of codes.length > 0 ? codes : [0])
    if (code === 0)
      Object.assign(next, { bold: 0, faint: 0, reverse: 0, colour: -1 });
    else if (code === 1) next.bold = 1;
    else if (code === 2) next.faint = 1;
    else if (code === 7) next.reverse = 1;
    else if (code === 22) Object.assign(next, { bold: 0, faint: 0 });
    else if (code === 27) next.reverse = 0;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code === 39) next.colour = -1;
  return next;
}

function css({ bold, faint, reverse, colour }) {
  const ink = COLOURS[colour] ?? COLOURS[0];
  return [
    bold ? 'font-weight:700' : '',
    faint ? 'opacity:.65' : '',
    reverse ? `background:${ink};color:#fff` : `color:${ink}`,
  ]
    .filter(Boolean)
    .join(';');
}

/** SCREEN, text with escape sequences of SGR, as a page. */
export function screenHtml(screen) {
  let style = styled({}, [0]);
  const parts = screen
    .replace(/\n+$/, '')
    .split(/(\x1b\[[\d;]*m)/)
    .map((part) => {
      const sequence = /^\x1b\[([\d;]*)m$/.exec(part);
      if (!sequence) {
        const text = part.replace(/[&<>]/g, (letter) => ENTITIES[letter]);
        return text && `<span style="${css(style)}">${text}</span>`;
      }
      style = styled(style, sequence[1].split(';').filter(Boolean).map(Number));
      return '';
    });
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;background:#fff"><pre style="display:inline-block;margin:0;padding:12px 16px;font:14px/1.35 monospace">${parts.join('')}</pre>`;
}
