-- Open the file that is named, and write, a line of JSON each, what a user of Neovim sees: the diagnostics, the quick fixes
-- at the first of them, the text after the fix that is asked for, and the diagnostics that are left.
-- nvim --headless -u INIT -l neovim.lua FILE KIND, where KIND is a kind of code action.

local WAIT_MILLISECONDS = 60000 -- only what hangs takes that long
local file, kind = arg[1], arg[2]

local function say(value)
  io.stdout:write(vim.json.encode(value) .. "\n")
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
end

local function shown()
  local found = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { row = item.lnum + 1, byte = item.col, code = item.code, source = item.source })
  end
  return found
end

vim.cmd.edit(file)
vim.wait(WAIT_MILLISECONDS, function() return #vim.diagnostic.get(0) > 0 end, 20)
local clients = {}
for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do
  table.insert(clients, client.name)
end
say({ clients = clients, diagnostics = shown() })

local first = vim.diagnostic.get(0)[1]
vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
local before, titles = text(), {}
vim.lsp.buf.code_action({
  apply = true,
  context = { only = { kind } },
  filter = function(action)
    table.insert(titles, action.title)
    return not action.title:find("silence")
  end,
})
vim.wait(WAIT_MILLISECONDS, function() return text() ~= before end, 20)
vim.wait(WAIT_MILLISECONDS, function() return #vim.diagnostic.get(0) == 0 end, 20)
say({ actions = titles, text = text(), diagnostics = shown() })
vim.cmd("qa!")
