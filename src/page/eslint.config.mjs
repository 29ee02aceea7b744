import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['dist/', 'node_modules/'] },
  js.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      'max-lines-per-function': ['error', { max: 80, skipComments: true }],
      'max-lines': ['error', 700],
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Names are text: use textContent.' },
        { property: 'outerHTML', message: 'Names are text: use textContent.' },
        { property: 'insertAdjacentHTML', message: 'Names are text.' },
      ],
    },
  },
];
